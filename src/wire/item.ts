import Type from 'typebox'
import { GeoJsonGeometry } from '#core/geojson-shapes.ts'
import { Choice, Closed, Described, FreeForm, NotBlank, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import { addressOf, type Asset } from '#model/imagery/asset.ts'
import { ASSET_STATES, ITEM_TYPES, LIFECYCLE_STATES } from '#core/vocabulary.ts'
import type { Item } from '#model/imagery/item-read.ts'
import { EXAMPLE_IDS } from './examples.ts'

export const Name = NotBlank(500)
export const Description = Nullable(Type.String({ maxLength: 10_000 }))
export const ItemKind = Choice(ITEM_TYPES)
export const State = Choice(LIFECYCLE_STATES)
/** Exactly four numbers: west, south, east, north. */
export const Box = Type.Array(Type.Number(), { minItems: 4, maxItems: 4 })
export const CloudCover = Type.Number({ minimum: 0, maximum: 100 })
export const Gsd = Type.Number({ exclusiveMinimum: 0 })

export const MAX_ASSETS_PER_ITEM = 100
export const AssetInput = Closed({
  key: Type.String({ minLength: 1, maxLength: 255, description: 'Asset key' }),
  href: Type.String({ minLength: 1, maxLength: 2048, description: 'Asset URL' }),
  media_type: Described(Type.Optional(Nullable(Type.String({ maxLength: 255 }))), 'Media type of the file'),
  roles: Described(
    Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 16 })),
    'Asset roles, such as `data` or `thumbnail`',
  ),
  title: Described(Type.Optional(Nullable(Type.String({ maxLength: 500 }))), 'Asset title'),
})

export const ItemRecord = Closed(
  {
    id: Type.String({ description: 'Item ID' }),
    project_id: Described(Uuid, 'Project ID'),
    collection_id: Described(Nullable(Uuid), 'Collection ID; null if in none'),
    stac_id: Type.String({ description: 'STAC item ID' }),
    type: Described(ItemKind, 'Item type'),
    geometry: Described(Nullable(GeoJsonGeometry), 'Item footprint in WGS84; null if unknown'),
    bbox: Described(Nullable(Box), 'Bounding box as west, south, east, north in degrees; null if unknown'),
    datetime: Described(Nullable(Timestamp), 'Acquisition time; null if unknown'),
    start_datetime: Described(Nullable(Timestamp), 'Start of the acquisition; null for a single moment'),
    end_datetime: Described(Nullable(Timestamp), 'End of the acquisition; null for a single moment'),
    cloud_cover: Described(Nullable(Type.Number()), 'Cloud cover in percent; null if unknown'),
    gsd: Described(Nullable(Type.Number()), 'Ground resolution in metres per pixel; null if unknown'),
    name: Type.String({ description: 'Display name of the item' }),
    description: Described(Nullable(Type.String()), 'Item description; null if none'),
    properties: Described(FreeForm, 'Further STAC properties'),
    stac_extensions: Type.Array(Type.String(), { description: 'STAC extension schema URLs' }),
    lifecycle_state: Described(State, 'Lifecycle state'),
    expires_at: Described(Nullable(Timestamp), 'Time of the next automatic lifecycle change; null if there is none'),
    archived_at: Described(Nullable(Timestamp), 'Archival time; null if not archived'),
    previous_version_id: Described(Nullable(Type.String()), 'ID of the item this one replaced; null if none'),
    duplicated_from_id: Described(Nullable(Type.String()), 'ID of the item this one was copied from; null if none'),
    order_id: Described(Nullable(Type.String()), 'ID of the order that delivered the item; null if none'),
    upload_id: Described(Nullable(Type.String()), 'Upload session ID; null if not uploaded'),
    job_id: Described(Nullable(Type.String()), 'ID of the job that produced the item; null if none'),
    deleted_at: Described(Nullable(Timestamp), 'Deletion time; null if not deleted'),
    created_by: Described(Nullable(Uuid), 'User ID of the creator; null if not created by a user'),
    created_at: Described(Timestamp, 'Creation time'),
    updated_at: Described(Timestamp, 'Time of the last change'),
  },
  { $id: 'Item', description: 'An item of imagery or derived data' },
)

export function toRecord(item: Item) {
  return {
    id: item.id,
    project_id: item.projectId,
    collection_id: item.collectionId,
    stac_id: item.stacId,
    type: item.type,
    geometry: item.geometry,
    bbox: item.bbox,
    datetime: item.datetime?.toISOString() ?? null,
    start_datetime: item.startDatetime?.toISOString() ?? null,
    end_datetime: item.endDatetime?.toISOString() ?? null,
    cloud_cover: item.cloudCover,
    gsd: item.gsd,
    name: item.name,
    description: item.description,
    properties: item.properties,
    stac_extensions: item.stacExtensions,
    lifecycle_state: item.lifecycleState,
    expires_at: item.expiresAt?.toISOString() ?? null,
    archived_at: item.archivedAt?.toISOString() ?? null,
    previous_version_id: item.previousVersionId,
    duplicated_from_id: item.duplicatedFromId,
    order_id: item.orderId,
    upload_id: item.uploadId,
    job_id: item.jobId,
    deleted_at: item.deletedAt?.toISOString() ?? null,
    created_by: item.createdBy,
    created_at: item.createdAt.toISOString(),
    updated_at: item.updatedAt.toISOString(),
  }
}

export const AssetRecord = Closed(
  {
    id: Described(Uuid, 'Asset ID'),
    item_id: Type.String({ description: 'Item ID' }),
    key: Type.String({ description: 'Asset key' }),
    title: Described(Nullable(Type.String()), 'Asset title; null if none'),
    media_type: Described(Nullable(Type.String()), 'Media type of the file; null if unknown'),
    roles: Type.Array(Type.String(), { description: 'Asset roles, such as `data` or `thumbnail`' }),
    href: Type.String({ description: 'Asset URL' }),
    file_size_bytes: Described(Nullable(Type.Integer()), 'File size in bytes; null if unknown'),
    band_names: Described(Nullable(Type.Array(Type.String())), 'Name of each band, in order; null if unknown'),
    state: Choice(ASSET_STATES, { description: 'Asset state; `converting` until it can be rendered, see `uploads.progress`' }),
    created_at: Described(Timestamp, 'Creation time'),
    updated_at: Described(Timestamp, 'Time of the last change'),
  },
  { $id: 'Asset', description: 'A file of an item' },
)

export function toAsset(asset: Asset, itemId: string, baseUrl: string) {
  return {
    id: asset.id,
    item_id: itemId,
    key: asset.key,
    title: asset.title,
    media_type: asset.mediaType,
    roles: asset.roles,
    href: addressOf(asset, itemId, baseUrl),
    file_size_bytes: asset.fileSizeBytes,
    band_names: asset.bandNames,
    state: asset.state,
    created_at: asset.createdAt.toISOString(),
    updated_at: asset.updatedAt.toISOString(),
  }
}

/** For the reference. */
export const EXAMPLE_ITEM = {
  id: EXAMPLE_IDS.item,
  project_id: EXAMPLE_IDS.project,
  collection_id: null,
  stac_id: 'S2B_55KFA_20260214_0_L2A',
  type: 'external_reference' as const,
  geometry: {
    type: 'Polygon',
    coordinates: [
      [
        [146.1, -18.9],
        [147.1, -18.9],
        [147.1, -18],
        [146.1, -18],
        [146.1, -18.9],
      ],
    ],
  },
  bbox: [146.1, -18.9, 147.1, -18],
  datetime: '2026-02-14T00:31:19.000Z',
  start_datetime: null,
  end_datetime: null,
  cloud_cover: 3.2,
  gsd: 10,
  name: 'Sentinel-2B, 14 February 2026',
  description: null,
  properties: { platform: 'sentinel-2b' },
  stac_extensions: [],
  lifecycle_state: 'active' as const,
  expires_at: null,
  archived_at: null,
  previous_version_id: null,
  duplicated_from_id: null,
  order_id: null,
  upload_id: null,
  job_id: null,
  deleted_at: null,
  created_by: EXAMPLE_IDS.user,
  created_at: '2026-03-01T09:45:00.000Z',
  updated_at: '2026-03-01T09:45:00.000Z',
}

export const EXAMPLE_ASSET = {
  id: EXAMPLE_IDS.asset,
  item_id: EXAMPLE_ITEM.id,
  key: 'data',
  title: null,
  media_type: 'image/tiff; application=geotiff; profile=cloud-optimized',
  roles: ['data'],
  href: 'https://data.example/S2B_55KFA_20260214_0_L2A.tif',
  file_size_bytes: null,
  band_names: null,
  state: 'ready' as const,
  created_at: '2026-03-01T09:45:00.000Z',
  updated_at: '2026-03-01T09:45:00.000Z',
}
