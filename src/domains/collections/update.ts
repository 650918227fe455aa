import Type from 'typebox'
import { Closed, Described, Nullable, Uuid } from '#core/shapes.ts'
import * as collections from '#model/imagery/collection.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { CollectionRecord, Color, Description, EXAMPLE_COLLECTION, LayerOrder, Name, toRecord } from './wire.ts'
import { ItemId } from '#wire/ids.ts'

/**
 * Changes the fields that are sent. Null clears `description` and `color`; the other fields cannot be empty, so null leaves them
 * unchanged.
 */
export default operation({
  id: 'collections.update',
  scope: 'collections:write',
  tier: 'compute',
  events: ['collection.updated'],
  input: Closed({
    project_id: Described(Uuid, 'Project ID'),
    collection_id: Described(ItemId, 'Collection ID'),
    name: Described(Type.Optional(Nullable(Name)), 'Display name of the collection'),
    description: Described(Type.Optional(Description), 'Collection description'),
    color: Described(Type.Optional(Color), 'Map colour as `#rrggbb`'),
    show_on_map: Described(Type.Optional(Nullable(Type.Boolean())), 'Whether maps show the collection by default'),
    layer_order: Described(Type.Optional(Nullable(LayerOrder)), 'Position in the layer stack; higher layers are on top'),
  }),
  output: CollectionRecord,
  example: {
    input: { project_id: EXAMPLE_COLLECTION.project_id, collection_id: EXAMPLE_COLLECTION.id, color: '#2a9d8f' },
    output: EXAMPLE_COLLECTION,
  },
}).handle({
  async check({ db, principal }, { project_id, collection_id }) {
    const project = projects.requireActive(await projects.requireRole(db, principal, project_id, 'editor'))
    return { project, collection: await collections.requireIn(db, project.id, collection_id) }
  },
  async execute({ tx, clock, events, attributeTo }, input, { project, collection }) {
    attributeTo(project.organizationId)
    await projects.lock(tx, project.id)
    const change = {
      name: input.name ?? undefined,
      description: input.description,
      color: input.color,
      showOnMap: input.show_on_map ?? undefined,
      layerOrder: input.layer_order ?? undefined,
    }
    const updated = await collections.update(tx, collection.id, change, clock.now())
    events.emit('collection.updated', updated.id, collections.summary(updated))
    return toRecord(updated, (await collections.countItems(tx, [updated.id])).get(updated.id) ?? 0)
  },
})
