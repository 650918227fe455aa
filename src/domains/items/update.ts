import Type from 'typebox'
import { GeoJsonGeometry } from '#core/geojson-shapes.ts'
import { parseInstant } from '#core/interval.ts'
import { Closed, Described, FreeForm, Nullable, Timestamp } from '#core/shapes.ts'
import * as collections from '#model/imagery/collection.ts'
import { requireProperties } from '#model/imagery/item-metadata.ts'
import * as items from '#model/imagery/item-read.ts'
import * as itemWrite from '#model/imagery/item-write.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { Box, CloudCover, Description, EXAMPLE_ITEM, Gsd, ItemRecord, Name, State, toRecord } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'

/**
 * Changes the fields that are sent; null clears a field, except for name and state, which cannot be empty. `collection_id` moves
 * the item between collections of its project.
 */
export default operation({
  id: 'items.update',
  scope: 'items:write',
  tier: 'compute',
  maxBodyBytes: 512 * 1024,
  events: ['item.updated'],
  input: Closed({
    item_id: Described(ItemId, 'Item ID'),
    collection_id: Described(
      Type.Optional(Nullable(ItemId)),
      'ID of the collection to move the item to; null removes it from its collection',
    ),
    name: Described(Type.Optional(Nullable(Name)), 'Display name of the item'),
    description: Described(Type.Optional(Description), 'Item description'),
    geometry: Described(Type.Optional(Nullable(GeoJsonGeometry)), 'Item footprint in WGS84'),
    bbox: Described(
      Type.Optional(Nullable(Box)),
      'Bounding box as west, south, east, north in degrees; west is greater than east across the antimeridian',
    ),
    datetime: Described(Type.Optional(Nullable(Timestamp)), 'Acquisition time'),
    cloud_cover: Described(Type.Optional(Nullable(CloudCover)), 'Cloud cover in percent'),
    gsd: Described(Type.Optional(Nullable(Gsd)), 'Ground resolution in metres per pixel'),
    properties: Described(Type.Optional(Nullable(FreeForm)), 'Further STAC properties'),
    lifecycle_state: Described(Type.Optional(Nullable(State)), 'Lifecycle state'),
  }),
  output: ItemRecord,
  example: { input: { item_id: EXAMPLE_ITEM.id, cloud_cover: 3.2, description: null }, output: EXAMPLE_ITEM },
}).handle({
  async check({ db, principal }, input) {
    const { item, project } = await items.requireEditor(db, principal, input.item_id)
    if (input.collection_id != null) await collections.requireIn(db, project.id, input.collection_id)
    const change: itemWrite.ItemChange = {
      ...(input.collection_id !== undefined ? { collectionId: input.collection_id } : {}),
      ...(input.name != null ? { name: input.name } : {}),
      ...(input.description !== undefined ? { description: input.description } : {}),
      ...(input.geometry !== undefined ? { geometry: input.geometry } : {}),
      ...(input.bbox !== undefined ? { bbox: input.bbox } : {}),
      ...(input.datetime !== undefined ? { datetime: input.datetime === null ? null : parseInstant(input.datetime, 'datetime') } : {}),
      ...(input.cloud_cover !== undefined ? { cloudCover: input.cloud_cover } : {}),
      ...(input.gsd !== undefined ? { gsd: input.gsd } : {}),
      ...(input.properties !== undefined ? { properties: requireProperties(input.properties ?? {}) } : {}),
      ...(input.lifecycle_state != null ? { lifecycleState: input.lifecycle_state } : {}),
    }
    return { item, project, change }
  },
  async execute({ tx, clock, events, attributeTo }, _input, { item, project, change }) {
    attributeTo(project.organizationId)
    await projects.lock(tx, project.id)
    if (change.collectionId) await collections.lock(tx, project.id, change.collectionId)
    const updated = await itemWrite.update(tx, item.seq, change, clock.now())
    if (updated.changedFields.length > 0)
      events.emit('item.updated', updated.item.id, {
        ...items.summary(updated.item, updated.previousState),
        changed_fields: updated.changedFields,
      })
    return toRecord(updated.item)
  },
})
