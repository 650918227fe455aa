/**
 * Plans an installation from measured costs: machines, price, and what is reached first.
 * `node tools/capacity.ts --tiles 1e9 --items 1e8 --organizations 1e4 [--set cdnShare=0.9,peakFactor=2]`
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { ASSUMPTIONS, figure, simulate, type Assumptions, type Cost, type CostName } from './capacity/model.ts'

const { values } = parseArgs({
  options: {
    tiles: { type: 'string', default: '1e9' },
    items: { type: 'string', default: '1e8' },
    organizations: { type: 'string', default: '1e4' },
    set: { type: 'string', default: '' },
  },
})

function assumed(changes: string): Assumptions {
  const changed: Record<string, number> = { ...ASSUMPTIONS }
  for (const change of changes.split(',').filter(Boolean)) {
    const [name = '', value = ''] = change.split('=')
    if (!(name in ASSUMPTIONS) || !Number.isFinite(Number(value || Number.NaN))) throw new Error(`There is no assumption '${change}'`)
    changed[name] = Number(value)
  }
  return changed as Assumptions
}

const file = path.join(import.meta.dirname, 'capacity/costs.json')
const costs = JSON.parse(readFileSync(file, 'utf8')) as Record<CostName, Cost>
const load = { tilesPerDay: Number(values.tiles), items: Number(values.items), organizations: Number(values.organizations) }
const plan = simulate(costs, load, assumed(values.set))
console.log(`${figure(load.tilesPerDay)} tiles a day, ${figure(load.items)} items, ${figure(load.organizations)} organizations:`)
console.log(
  `  ${plan.apiMachines} machines for the service, ${plan.shards} primaries with a standby each, ${figure(plan.terabytes)} TB of files`,
)
console.log(`  about US$${figure(plan.dollarsPerMonth)} a month`)
for (const { name, use, demand, remedy } of plan.bottlenecks)
  console.log(`  ${figure(100 * use).padStart(7)}% ${name}: ${demand}; then: ${remedy}`)
