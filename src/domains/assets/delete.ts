import Type from 'typebox'
import { Closed, Described, Removed } from '#core/shapes.ts'
import * as assets from '#model/imagery/asset.ts'
import * as items from '#model/imagery/item-read.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'

const Id = Type.String({ minLength: 1, maxLength: items.MAX_ID_LENGTH })
const EXAMPLE = { item_id: EXAMPLE_IDS.item, asset_id: EXAMPLE_IDS.asset }

/** Deletes one asset of an item and frees its storage; never the last primary data asset. */
export default operation({
  id: 'assets.delete',
  scope: 'items:write',
  tier: 'destructive',
  events: ['asset.deleted'],
  input: Closed({ item_id: Described(Id, 'Item ID'), asset_id: Described(Id, 'Asset ID or asset key') }),
  output: Removed,
  example: { input: EXAMPLE, output: { ok: true, id: EXAMPLE.asset_id } },
}).handle({
  async check({ db, principal }, { item_id, asset_id }) {
    const { item, project } = await items.requireEditor(db, principal, item_id)
    await assets.requireOf(db, item.seq, asset_id)
    return { item, project }
  },
  async execute({ tx, clock, events, attributeTo }, { asset_id }, { item, project }) {
    attributeTo(project.organizationId)
    await projects.lock(tx, project.id)
    const { seq, id: itemId, projectId } = await items.lock(tx, item.seq)
    const asset = await assets.remove(tx, { itemSeq: seq, projectId, now: clock.now() }, asset_id.toLowerCase())
    events.emit('asset.deleted', asset.id, {
      id: asset.id,
      item_id: itemId,
      project_id: projectId,
      key: asset.key,
      file_size_bytes: asset.fileSizeBytes,
    })
    return { ok: true as const, id: asset.id }
  },
})
