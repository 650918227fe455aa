import Type from 'typebox'
import { Closed, Defaulted, Described, Uuid } from '#core/shapes.ts'
import * as collections from '#model/imagery/collection.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { CollectionRecord, Color, Description, EXAMPLE_COLLECTION, LayerOrder, Name, toRecord } from './wire.ts'

/** Creates a collection in a project. */
export default operation({
  id: 'collections.create',
  scope: 'collections:write',
  tier: 'compute',
  produces: ['collection:created_in>project'],
  events: ['collection.created'],
  input: Closed({
    project_id: Described(Uuid, 'Project ID'),
    name: Described(Name, 'Display name of the collection'),
    description: Described(Type.Optional(Description), 'Collection description'),
    color: Described(Type.Optional(Color), 'Map colour as `#rrggbb`'),
    show_on_map: Defaulted(Type.Boolean(), true, { description: 'Whether maps show the collection by default' }),
    layer_order: Defaulted(LayerOrder, 0, { description: 'Position in the layer stack; higher layers are on top' }),
  }),
  output: CollectionRecord,
  example: {
    input: { project_id: EXAMPLE_COLLECTION.project_id, name: EXAMPLE_COLLECTION.name, color: EXAMPLE_COLLECTION.color },
    output: EXAMPLE_COLLECTION,
  },
}).handle({
  async check({ db, principal }, { project_id }) {
    return projects.requireActive(await projects.requireRole(db, principal, project_id, 'editor'))
  },
  async execute({ tx, principal, clock, lineage, events, attributeTo }, input, project) {
    attributeTo(project.organizationId)
    const now = clock.now()
    await projects.lock(tx, project.id)
    const collection = await collections.insert(
      tx,
      { organizationId: project.organizationId, projectId: project.id, createdBy: principal.userId, now },
      {
        name: input.name,
        description: input.description ?? null,
        color: input.color ?? null,
        showOnMap: input.show_on_map,
        layerOrder: input.layer_order,
      },
    )
    lineage.record('collection', collection.id, 'created_in', { kind: 'project', id: project.id })
    events.emit('collection.created', collection.id, collections.summary(collection))
    return toRecord(collection, 0)
  },
})
