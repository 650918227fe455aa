/** Finds the clearest scene of an area and buys it: `buy-scene.ts HOST WEST,SOUTH,EAST,NORTH FROM/TO [--buy]`. */
import { isProblem } from '../packages/client/src/index.ts'
import { connect, firstProject } from './connect.ts'

const [host = 'sandbox-vhr', area = '151.20,-33.87,151.21,-33.86', datetime = '2026-01-01/2026-03-31', mode] = process.argv.slice(2)
const bbox = area.split(',').map(Number) as [number, number, number, number]
const gt = await connect()

const cloudOf = ({ properties }: { properties: Record<string, unknown> }) =>
  Number(properties['cloudCoverage'] ?? properties['eo:cloud_cover'] ?? 100)
const { features } = await gt.catalog.search({ host_name: host, bbox, datetime, limit: 50 })
const scenes = features as { id: string; properties: Record<string, unknown> }[]
const [best] = scenes.toSorted((a, b) => cloudOf(a) - cloudOf(b))
if (!best) throw new Error('No scene of this area and time')
console.log(`${best.id}: ${cloudOf(best)} % cloud, ${String(best.properties['creditsPerSqKm'] ?? 'no')} credits/km²`)

const [west, south, east, north] = bbox
const ring = [
  [west, south],
  [east, south],
  [east, north],
  [west, north],
  [west, south],
]
const captures = [{ id: best.id, geometry: { type: 'Polygon', coordinates: [ring] }, host }]
const price = await gt.price('orders.archive.place', { captures })
console.log(`Price: ${price.credits} credits (A$${price.aud})`)
if (mode === '--buy') {
  try {
    const input = { projectId: await firstProject(gt), captures }
    const order = await gt.call<{ id: string }>('orders.archive.place', input, {}, 'keyed')
    const { status } = await gt.waitFor({ order: order.id }, { onChange: (now) => console.log(now.status) })
    console.log(`The order ${order.id} is ${status}`)
  } catch (error) {
    if (!isProblem(error, 'insufficient-credits')) throw error
    console.log('Not enough credits; top up with gt.billing.topup')
  }
}
