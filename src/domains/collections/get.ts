import { Closed, Described, Uuid } from '#core/shapes.ts'
import * as collections from '#model/imagery/collection.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { CollectionRecord, EXAMPLE_COLLECTION, toRecord } from './wire.ts'
import { ItemId } from '#wire/ids.ts'

/** One collection of one project, with the number of its items. */
export default operation({
  id: 'collections.get',
  scope: 'collections:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({ project_id: Described(Uuid, 'Project ID'), collection_id: Described(ItemId, 'Collection ID') }),
  output: CollectionRecord,
  example: { input: { project_id: EXAMPLE_COLLECTION.project_id, collection_id: EXAMPLE_COLLECTION.id }, output: EXAMPLE_COLLECTION },
}).handle({
  async check({ db, principal }, { project_id, collection_id }) {
    const project = await projects.requireReader(db, principal, project_id)
    return await collections.requireIn(db, project.id, collection_id)
  },
  async execute({ db }, _input, collection) {
    return toRecord(collection, (await collections.countItems(db, [collection.id])).get(collection.id) ?? 0)
  },
})
