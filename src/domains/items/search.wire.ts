/** The fields of the two searches and of their answer. */
import Type, { type Static } from 'typebox'
import { Choice, Closed, FreeForm, Limit, Nullable, Offset, type Received } from '#core/shapes.ts'
import { STAC_VERSION } from '#model/imagery/stac.ts'
import { Box, EXAMPLE_ITEM, ItemKind } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'

export const searchFields = {
  bbox: Type.Optional(Nullable(Box)),
  datetime: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 100 }))),
  collections: Type.Optional(Nullable(Type.Array(ItemId, { maxItems: 100 }))),
  type: Type.Optional(Nullable(ItemKind)),
  query: Type.Optional(Nullable(FreeForm)),
  sortby: Type.Optional(
    Nullable(
      Type.Array(Closed({ field: Type.String({ minLength: 1, maxLength: 200 }), direction: Type.Optional(Choice(['asc', 'desc'])) }), {
        maxItems: 8,
      }),
    ),
  ),
  limit: Limit(100, 1000),
  offset: Offset,
  format: Type.Optional(Nullable(Choice(['stac']))),
  base_url: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 500 }))),
}

const Fields = Closed(searchFields)
export type SearchFields = Received<typeof Fields>

const FeatureRecord = Closed(
  {
    type: Type.Literal('Feature'),
    stac_version: Type.Literal(STAC_VERSION),
    stac_extensions: Type.Array(Type.String()),
    id: Type.String(),
    collection: Type.Optional(Type.String()),
    geometry: Nullable(FreeForm),
    bbox: Type.Optional(Box),
    properties: FreeForm,
    assets: Type.Unsafe<Record<string, Record<string, unknown>>>({ type: 'object', additionalProperties: true }),
    links: Type.Array(Closed({ rel: Type.String(), href: Type.String(), type: Type.String() })),
  },
  { $id: 'ItemFeature' },
)

export const FoundItems = Closed({
  type: Type.Literal('FeatureCollection'),
  features: Type.Array(FeatureRecord),
  numberMatched: Type.Integer(),
  numberReturned: Type.Integer(),
  /** Present when there are too many to count out. */
  numberMatchedEstimated: Type.Optional(Type.Literal(true)),
})

/** For the reference. */
export const EXAMPLE_FOUND: Static<typeof FoundItems> = {
  type: 'FeatureCollection',
  features: [
    {
      type: 'Feature',
      stac_version: STAC_VERSION,
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
    },
  ],
  numberMatched: 1,
  numberReturned: 1,
}
