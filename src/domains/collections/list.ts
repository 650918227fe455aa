import Type from 'typebox'
import { Closed, Described, Uuid } from '#core/shapes.ts'
import * as collections from '#model/imagery/collection.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { CollectionRecord, EXAMPLE_COLLECTION, toRecord } from './wire.ts'

/** The collections of a project in the order in which maps draw them, each with the number of its items. */
export default operation({
  id: 'collections.list',
  scope: 'collections:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({ project_id: Described(Uuid, 'Project ID') }),
  output: Type.Array(CollectionRecord, { description: 'Collections of the project' }),
  example: { input: { project_id: EXAMPLE_COLLECTION.project_id }, output: [EXAMPLE_COLLECTION] },
}).handle({
  async check({ db, principal }, { project_id }) {
    return await projects.requireReader(db, principal, project_id)
  },
  async execute({ db }, _input, project) {
    const rows = await collections.list(db, project.id)
    const counts = await collections.countItems(
      db,
      rows.map(({ id }) => id),
    )
    return rows.map((collection) => toRecord(collection, counts.get(collection.id) ?? 0))
  },
})
