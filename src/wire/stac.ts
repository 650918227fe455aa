/** STAC documents that several domains answer with. */
import Type from 'typebox'
import { Choice, Closed, FreeForm, Nullable } from '#core/shapes.ts'
import { STAC_VERSION } from '#core/stac.ts'
import { Box, EXAMPLE_ITEM } from './item.ts'

export const SortBy = Type.Array(
  Closed({
    field: Type.String({ minLength: 1, maxLength: 200, description: 'Such as datetime, id or eo:cloud_cover' }),
    direction: Type.Optional(Choice(['asc', 'desc'], { description: 'Ascending unless it says otherwise' })),
  }),
  { maxItems: 8, description: 'The first field counts most; newest first without it' },
)

export const StacBaseUrl = Type.String({ minLength: 1, maxLength: 500, description: 'The address that links begin with' })
/** For clients that cannot send headers: the way from link to link stays open to them. */
export const LinkKey = Type.String({ minLength: 1, maxLength: 200, description: 'An API key to put into addresses of this service' })

export const StacLink = Closed(
  {
    rel: Type.String({ description: 'What the address is to this document' }),
    href: Type.String({ description: 'The address' }),
    type: Type.Optional(Type.String({ description: 'Media type of what is there' })),
    title: Type.Optional(Type.String({ description: 'For people' })),
  },
  { $id: 'StacLink' },
)

const featureFields = {
  type: Type.Literal('Feature'),
  stac_version: Type.Literal(STAC_VERSION),
  stac_extensions: Type.Array(Type.String(), { description: 'Addresses of the schemas that its further fields follow' }),
  id: Type.String({ description: 'Its STAC id' }),
  collection: Type.Optional(Type.String({ description: 'The id of its collection; absent where it is in none' })),
  geometry: Nullable(FreeForm),
  bbox: Type.Optional(Box),
  properties: FreeForm,
  assets: Type.Unsafe<Record<string, Record<string, unknown>>>({
    type: 'object',
    additionalProperties: true,
    description: 'By key; empty in lightweight features',
  }),
  links: Type.Array(StacLink),
}

export const StacFeature = Closed(featureFields, { $id: 'ItemFeature' })

/** Of which a caller asked for some fields only; what it is and its id are always there. */
const { type, id, ...rest } = featureFields
export const StacFeaturePart = Closed({ type, id, ...Type.Partial(Closed(rest)).properties }, { $id: 'ItemFeaturePart' })

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
