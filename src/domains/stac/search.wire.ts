/** The fields of a STAC search and its response. */
import Type, { type Static } from 'typebox'
import { GeoJsonPolygon } from '#core/geojson-shapes.ts'
import { Choice, Closed, Defaulted, Described, FreeForm, Limit, Nullable, type Received } from '#core/shapes.ts'
import { Box } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'
import { EXAMPLE_FEATURE, LinkKey, SortBy, StacBaseUrl, StacFeature, StacFeaturePart, StacLink } from '#wire/stac.ts'

const MAX_IDS = 10_000
const Names = Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 200 })

export const SearchInput = Closed({
  base_url: Type.Optional(StacBaseUrl),
  collections: Type.Optional(Nullable(Type.Array(ItemId, { maxItems: 100, description: 'Only items of these collections' }))),
  ids: Type.Optional(Nullable(Type.Array(ItemId, { maxItems: MAX_IDS, description: 'Only items with these IDs' }))),
  datetime: Type.Optional(
    Nullable(Type.String({ minLength: 1, maxLength: 100, description: 'Time or interval `start/end`; `..` leaves an end open' })),
  ),
  bbox: Type.Optional(Nullable(Described(Box, 'Bounding box as west, south, east, north in degrees; excludes `intersects`'))),
  intersects: Type.Optional(Nullable(Described(GeoJsonPolygon, 'Area to search: GeoJSON Polygon with at most 999 vertices'))),
  filter: Type.Optional(Nullable(Described(FreeForm, 'CQL2-JSON filter expression'))),
  'filter-lang': Type.Optional(Nullable(Type.String({ maxLength: 100, description: 'Filter language, always `cql2-json`' }))),
  sortby: Type.Optional(Nullable(SortBy)),
  limit: Limit(10, 10_000),
  page: Defaulted(Type.Integer({ minimum: 0, description: '0-based page number' }), 0),
  format: Type.Optional(
    Nullable(Choice(['stac'], { description: '`stac` to return complete STAC items; filters can then use properties that no item has' })),
  ),
  next: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 4_096, description: '`next` of the previous page' }))),
  query: Type.Optional(Nullable(Described(FreeForm, 'Conditions of the STAC Query extension'))),
  fields: Described(
    Type.Optional(
      Nullable(
        Closed({
          include: Type.Optional(Described(Names, 'Fields to include, such as `properties.datetime`')),
          exclude: Type.Optional(Described(Names, 'Fields to exclude')),
        }),
      ),
    ),
    'Fields of the features to include or exclude',
  ),
  key: Type.Optional(Nullable(LinkKey)),
})
export type SearchFields = Received<typeof SearchInput>

/** A link to the next or previous page: the same request with another page number. */
const SearchLink = Closed({
  ...StacLink.properties,
  method: Type.Optional(Type.Literal('POST', { description: 'HTTP method of the link; `GET` if omitted' })),
  body: Type.Optional(
    Closed({ page: Type.Integer({ description: 'Page number of the link' }) }, { description: 'Changed fields of the request body' }),
  ),
  merge: Type.Optional(Type.Literal(true, { description: 'Whether to merge `body` into the previous request body' })),
})

/** `features` come last, so that a route can add members at the start of the response without parsing all of it. */
export const FoundFeatures = Closed(
  {
    type: Type.Literal('FeatureCollection', { description: 'GeoJSON type, always `FeatureCollection`' }),
    links: Type.Array(SearchLink, { description: 'Links, such as to the next page' }),
    context: Closed(
      {
        limit: Type.Integer({ description: 'Page size, as requested' }),
        returned: Type.Integer({ description: 'Number of features on this page' }),
        matched: Type.Optional(Type.Integer({ description: 'Total number of features; with format `stac` only if cheap to count' })),
        page: Type.Integer({ description: 'Page number, as requested' }),
        pages: Type.Optional(Type.Integer({ description: 'Total number of pages' })),
        matched_estimated: Type.Optional(Type.Literal(true, { description: 'Present and `true` if `matched` is an estimate' })),
      },
      { description: 'Number of items requested, returned and matched' },
    ),
    next: Type.Optional(Type.String({ description: 'Cursor of the next page; absent on the last page' })),
    features: Type.Array(Type.Union([StacFeature, StacFeaturePart]), {
      description: 'Items found, as STAC features or the requested parts of them',
    }),
  },
  { description: 'Items found, as STAC features' },
)

/** For the reference. */
export const EXAMPLE_FOUND: Static<typeof FoundFeatures> = {
  type: 'FeatureCollection',
  links: [{ rel: 'self', href: 'https://imagery.example/stac/search', type: 'application/geo+json' }],
  context: { limit: 10, returned: 1, matched: 1, page: 0, pages: 1 },
  features: [EXAMPLE_FEATURE],
}
