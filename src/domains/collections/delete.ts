import { Closed, Described, Removed, Uuid } from '#core/shapes.ts'
import * as collections from '#model/imagery/collection.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_COLLECTION } from './wire.ts'
import { ItemId } from '#wire/ids.ts'

/** Soft-deletes a collection; its items stay in the project, without a collection. Only project admins can do this. */
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
    const project = projects.requireActive(await projects.requireRole(db, principal, project_id, 'admin'))
    return { project, collection: await collections.requireIn(db, project.id, collection_id) }
  },
  async execute({ tx, clock, events, attributeTo }, _input, { project, collection }) {
    attributeTo(project.organizationId)
    await projects.lock(tx, project.id)
    const deleted = await collections.softDelete(tx, collection.id, clock.now())
    events.emit('collection.updated', deleted.id, collections.summary(deleted))
    return { ok: true as const, id: deleted.id }
  },
})
