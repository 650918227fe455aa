import Type from 'typebox'
import { Choice, Closed, FreeForm, NotBlank, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
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
  key: Type.String({ minLength: 1, maxLength: 255 }),
  href: Type.String({ minLength: 1, maxLength: 2048 }),
  media_type: Type.Optional(Nullable(Type.String({ maxLength: 255 }))),
  roles: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 16 })),
  title: Type.Optional(Nullable(Type.String({ maxLength: 500 }))),
})

export const ItemRecord = Closed(
  {
    id: Type.String(),
    project_id: Uuid,
    collection_id: Nullable(Uuid),
    stac_id: Type.String(),
    type: ItemKind,
    geometry: Nullable(FreeForm),
    bbox: Nullable(Box),
    datetime: Nullable(Timestamp),
    start_datetime: Nullable(Timestamp),
    end_datetime: Nullable(Timestamp),
    cloud_cover: Nullable(Type.Number()),
    gsd: Nullable(Type.Number()),
    name: Type.String(),
    description: Nullable(Type.String()),
    properties: FreeForm,
    stac_extensions: Type.Array(Type.String()),
    lifecycle_state: State,
    expires_at: Nullable(Timestamp),
    archived_at: Nullable(Timestamp),
    previous_version_id: Nullable(Type.String()),
    duplicated_from_id: Nullable(Type.String()),
    order_id: Nullable(Type.String()),
    upload_id: Nullable(Type.String()),
    job_id: Nullable(Type.String()),
    deleted_at: Nullable(Timestamp),
    created_by: Nullable(Uuid),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'Item' },
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
    id: Uuid,
    item_id: Type.String(),
    key: Type.String(),
    title: Nullable(Type.String()),
    media_type: Nullable(Type.String()),
    roles: Type.Array(Type.String()),
    href: Type.String(),
    file_size_bytes: Nullable(Type.Integer()),
    band_names: Nullable(Type.Array(Type.String())),
    state: Choice(ASSET_STATES, { description: 'converting: the file shows nothing yet; uploads.progress tells how far it is' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'Asset' },
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
