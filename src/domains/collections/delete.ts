import { Closed, Described, Removed, Uuid } from '#core/shapes.ts'
import * as collections from '#model/imagery/collection.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_COLLECTION } from './wire.ts'
import { ItemId } from '#wire/ids.ts'

/** Soft-deletes a collection; its items stay in the project, in no collection. For admins of the project. */
export default operation({
  id: 'collections.delete',
  scope: 'collections:write',
  tier: 'destructive',
  events: ['collection.updated'],
  input: Closed({ project_id: Described(Uuid, 'Project ID'), collection_id: Described(ItemId, 'Collection ID') }),
  output: Removed,
  example: {
    input: { project_id: EXAMPLE_COLLECTION.project_id, collection_id: EXAMPLE_COLLECTION.id },
    output: { ok: true, id: EXAMPLE_COLLECTION.id },
  },
}).handle({
  async check({ db, principal }, { project_id, collection_id }) {
    const found = projects.requireActive(await projects.requireRole(db, principal, project_id, 'admin'))
    return { found, before: await collections.requireIn(db, found.id, collection_id) }
  },
  async execute({ tx, clock, events, attributeTo }, _input, { found, before }) {
    attributeTo(found.organizationId)
    await projects.hold(tx, found.id)
    const gone = await collections.softDelete(tx, before.id, clock.now())
    events.emit('collection.updated', gone.id, collections.summary(gone))
    return { ok: true as const, id: gone.id }
  },
})
