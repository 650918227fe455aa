import Type from 'typebox'
import { Closed, Described, Nullable, Uuid } from '#core/shapes.ts'
import * as collections from '#model/imagery/collection.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { CollectionRecord, Color, Description, EXAMPLE_COLLECTION, LayerOrder, Name, toRecord } from './wire.ts'
import { ItemId } from '#wire/ids.ts'

/**
 * Changes what is given and keeps the rest. Null clears description and color; the other fields have no empty value, so
 * null keeps them.
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
    const found = projects.requireActive(await projects.requireRole(db, principal, project_id, 'editor'))
    return { found, before: await collections.requireIn(db, found.id, collection_id) }
  },
  async execute({ tx, clock, events, attributeTo }, input, { found, before }) {
    attributeTo(found.organizationId)
    await projects.hold(tx, found.id)
    const change = {
      name: input.name ?? undefined,
      description: input.description,
      color: input.color,
      showOnMap: input.show_on_map ?? undefined,
      layerOrder: input.layer_order ?? undefined,
    }
    const changed = await collections.update(tx, before.id, change, clock.now())
    events.emit('collection.updated', changed.id, collections.summary(changed))
    return toRecord(changed, (await collections.countItems(tx, [changed.id])).get(changed.id) ?? 0)
  },
})
