/** STAC documents that several domains return. */
import Type from 'typebox'
import { GeoJsonGeometry } from '#core/geojson-shapes.ts'
import { Choice, Closed, Described, FreeForm, Nullable } from '#core/shapes.ts'
import { STAC_VERSION } from '#core/stac.ts'
import { Box, EXAMPLE_ITEM } from './item.ts'

export const SortBy = Type.Array(
  Closed(
    {
      field: Type.String({ minLength: 1, maxLength: 200, description: 'Field to sort by, such as `datetime`, `id` or `eo:cloud_cover`' }),
      direction: Type.Optional(Choice(['asc', 'desc'], { description: 'Sort direction; ascending by default' })),
    },
    { $id: 'SortField', description: 'A field to sort by' },
  ),
  { maxItems: 8, description: 'Sort fields, most significant first; defaults to newest first' },
)

export const StacBaseUrl = Type.String({ minLength: 1, maxLength: 500, description: 'Base URL of links in the response' })
/** For clients that cannot send headers, so that they can follow the links. */
export const LinkKey = Type.String({ minLength: 1, maxLength: 200, description: 'API key to include in URLs of this service' })

export const StacLink = Closed(
  {
    rel: Type.String({ description: 'Link relation' }),
    href: Type.String({ description: 'Link URL' }),
    type: Type.Optional(Type.String({ description: 'Media type of the linked resource' })),
    title: Type.Optional(Type.String({ description: 'Link title' })),
  },
  { $id: 'StacLink', description: 'A link to a related resource' },
)

const featureFields = {
  type: Type.Literal('Feature', { description: 'GeoJSON type, always `Feature`' }),
  stac_version: Type.Literal(STAC_VERSION, { description: 'STAC version' }),
  stac_extensions: Type.Array(Type.String(), {
    description: 'STAC extension schema URLs',
  }),
  id: Type.String({ description: 'STAC item ID' }),
  collection: Type.Optional(Type.String({ description: 'Collection ID; absent if in none' })),
  geometry: Described(Nullable(GeoJsonGeometry), 'Item footprint; null if unknown'),
  bbox: Described(Type.Optional(Box), 'Bounding box as west, south, east, north in degrees'),
  properties: Described(FreeForm, 'STAC properties'),
  assets: Type.Unsafe<Record<string, Record<string, unknown>>>({
    type: 'object',
    additionalProperties: true,
    description: 'Assets by key; empty in lightweight features',
  }),
  links: Type.Array(StacLink, { description: 'Links to related resources' }),
}

export const StacFeature = Closed(featureFields, { $id: 'ItemFeature', description: 'An item as a STAC feature' })

/** A feature with the requested fields only; `type` and `id` are always included. */
const { type, id, ...rest } = featureFields
export const StacFeaturePart = Closed(
  { type: Described(type, 'GeoJSON type, always `Feature`'), id, ...Type.Partial(Closed(rest)).properties },
  { $id: 'ItemFeaturePart', description: 'An item as a STAC feature, with the requested fields only' },
)

/** For the reference. */
export const EXAMPLE_FEATURE = {
  type: 'Feature' as const,
  stac_version: STAC_VERSION as typeof STAC_VERSION,
  stac_extensions: ['https://imagery.example/stac/svc/v1.0.0/schema.json'],
  id: EXAMPLE_ITEM.stac_id,
  geometry: EXAMPLE_ITEM.geometry,
  bbox: EXAMPLE_ITEM.bbox,
  properties: {
    title: EXAMPLE_ITEM.name,
    created: EXAMPLE_ITEM.created_at,
    updated: EXAMPLE_ITEM.updated_at,
    platform: 'sentinel-2b',
    datetime: EXAMPLE_ITEM.datetime,
    'eo:cloud_cover': 3.2,
    gsd: 10,
    'svc:item_id': EXAMPLE_ITEM.id,
    'svc:project_id': EXAMPLE_ITEM.project_id,
    'svc:order_id': null,
    'svc:upload_id': null,
    'svc:job_id': null,
    'svc:item_type': 'external_reference',
    'svc:name': EXAMPLE_ITEM.name,
    'svc:lifecycle_state': 'active',
    'svc:source': 'TASKING',
  },
  assets: {},
  links: [{ rel: 'self', href: `https://imagery.example/stac/items/${EXAMPLE_ITEM.id}`, type: 'application/geo+json' }],
}
