import { Closed, Described, Removed } from '#core/shapes.ts'
import * as items from '#model/imagery/item-read.ts'
import { softDelete } from '#model/imagery/item-delete.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_ITEM } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'

/** Soft-deletes an item; its assets no longer count as storage. */
export default operation({
  id: 'items.delete',
  scope: 'items:write',
  tier: 'destructive',
  events: ['item.deleted'],
  input: Closed({ item_id: Described(ItemId, 'Item ID') }),
  output: Removed,
  example: { input: { item_id: EXAMPLE_ITEM.id }, output: { ok: true, id: EXAMPLE_ITEM.id } },
}).handle({
  async check({ db, principal }, { item_id }) {
    return await items.requireEditor(db, principal, item_id)
  },
  async execute({ tx, clock, events, attributeTo }, _input, { item, project }) {
    attributeTo(project.organizationId)
    const now = clock.now()
    await projects.lock(tx, project.id)
    const deleted = await softDelete(tx, item.seq, now)
    events.emit('item.deleted', deleted.item.id, { ...items.summary(deleted.item, deleted.previousState), deleted_at: now.toISOString() })
    return { ok: true as const, id: deleted.item.id }
  },
})
