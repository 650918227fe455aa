/** The NDVI of every item of a project that has red and near infrared, as a table. */
import { isProblem } from '../packages/client/src/index.ts'
import { connect, firstProject } from './connect.ts'

const gt = await connect()
const rows: { name: string; date: string; p2: number | null; p98: number | null }[] = []
for await (const item of gt.items.list({ project_id: await firstProject(gt) })) {
  const { bands } = await gt.items.detectAssetBands({ item_id: item.id }).catch(() => ({ bands: [] as { name: string; index: number }[] }))
  const band = (name: string) => bands.find((found) => found.name.toLowerCase() === name)?.index
  const [red, nir] = [band('red'), band('nir')]
  if (red === undefined || nir === undefined) continue
  try {
    const { p2, p98 } = await gt.items.tile.statistics({ item_id: item.id, expression: `(b${nir}-b${red})/(b${nir}+b${red})` })
    rows.push({ name: item.name, date: item.datetime?.slice(0, 10) ?? '', p2, p98 })
  } catch (error) {
    if (!isProblem(error)) throw error
    console.error(`${item.name}: ${error.message}`)
  }
}
console.log('name,date,p2,p98')
for (const { name, date, p2, p98 } of rows) console.log([JSON.stringify(name), date, p2?.toFixed(3) ?? '', p98?.toFixed(3) ?? ''].join(','))
