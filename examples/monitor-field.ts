/** Tells of each item, first those that are there and then each new one, how green it is: `monitor-field.ts [how many]`. */
import type { Groundtrack, Item } from '../packages/client/src/index.ts'
import { connect, firstProject } from './connect.ts'

const NDVI = '(b4-b3)/(b4+b3)'

async function tell(gt: Groundtrack, { id, name }: Pick<Item, 'id' | 'name'>): Promise<void> {
  try {
    const { p2, p98 } = await gt.items.tile.statistics({ item_id: id, expression: NDVI })
    console.log(`${name}: NDVI from ${p2?.toFixed(2)} to ${p98?.toFixed(2)}`)
  } catch (error) {
    console.log(`${name}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

const gt = await connect()
const projectId = await firstProject(gt)
let left = Number(process.argv[2] ?? Number.POSITIVE_INFINITY)
for await (const item of gt.items.list({ project_id: projectId })) {
  await tell(gt, item)
  if (--left <= 0) process.exit(0)
}
for await (const event of gt.events()) {
  if (event.event_type !== 'item.created' || event.data.project_id !== projectId) continue
  await tell(gt, event.data)
  if (--left <= 0) process.exit(0)
}
