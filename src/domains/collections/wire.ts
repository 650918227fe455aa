import Type from 'typebox'
import { Closed, Described, NotBlank, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import type { Collection } from '#model/imagery/collection.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'

export const Name = NotBlank(255)
export const Description = Nullable(Type.String({ maxLength: 10_000 }))
export const Color = Nullable(Type.String({ maxLength: 64 }))
export const LayerOrder = Type.Integer({ minimum: -2_147_483_648, maximum: 2_147_483_647 })

export const CollectionRecord = Closed(
  {
    id: Described(Uuid, 'Collection ID'),
    project_id: Described(Uuid, 'Project ID'),
    name: Type.String({ description: 'Display name of the collection' }),
    description: Described(Nullable(Type.String()), 'Collection description; null if none'),
    color: Described(Nullable(Type.String()), 'Map colour as `#rrggbb`; null for the default'),
    show_on_map: Type.Boolean({ description: 'Whether maps show the collection by default' }),
    layer_order: Type.Integer({ description: 'Position in the layer stack; higher layers are on top' }),
    auto_created: Type.Boolean({ description: 'Whether the platform created the collection automatically' }),
    source_type: Described(Nullable(Type.String()), 'Type of the object the collection was created for; null if a user created it'),
    source_id: Described(Nullable(Type.String()), 'ID of the object the collection was created for; null if a user created it'),
    item_count: Type.Integer({ description: 'Number of items in the collection' }),
    deleted_at: Described(Nullable(Timestamp), 'Deletion time; null if not deleted'),
    created_at: Described(Timestamp, 'Creation time'),
    updated_at: Described(Timestamp, 'Time of the last change'),
  },
  { $id: 'Collection', description: 'A collection of items' },
)

export function toRecord(collection: Collection, itemCount: number) {
  return {
    id: collection.id,
    project_id: collection.projectId,
    name: collection.name,
    description: collection.description,
    color: collection.color,
    show_on_map: collection.showOnMap,
    layer_order: collection.layerOrder,
    auto_created: collection.systemKey !== null,
    source_type: collection.sourceType,
    source_id: collection.sourceId,
    item_count: itemCount,
    deleted_at: collection.deletedAt?.toISOString() ?? null,
    created_at: collection.createdAt.toISOString(),
    updated_at: collection.updatedAt.toISOString(),
  }
}

/** For the reference. */
export const EXAMPLE_COLLECTION = {
  id: '0199f2c5-7a00-7d21-8c55-5b2e9d8f4a31',
  project_id: EXAMPLE_IDS.project,
  name: 'Sentinel-2, dry season',
  description: null,
  color: '#2a9d8f',
  show_on_map: true,
  layer_order: 0,
  auto_created: false,
  source_type: null,
  source_id: null,
  item_count: 0,
  deleted_at: null,
  created_at: '2026-03-01T09:40:00.000Z',
  updated_at: '2026-03-01T09:40:00.000Z',
}
