/** The fields of a STAC search and of its answer. */
import Type, { type Static } from 'typebox'
import { Choice, Closed, Defaulted, FreeForm, Limit, Nullable, type Received } from '#core/shapes.ts'
import { Box } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'
import { EXAMPLE_FEATURE, LinkKey, SortBy, StacBaseUrl, StacFeature, StacFeaturePart, StacLink } from '#wire/stac.ts'

const MAX_IDS = 10_000
const Names = Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 200 })

export const SearchInput = Closed({
  base_url: Type.Optional(StacBaseUrl),
  collections: Type.Optional(Nullable(Type.Array(ItemId, { maxItems: 100, description: 'Ids of collections; items of any of them' }))),
  ids: Type.Optional(Nullable(Type.Array(ItemId, { maxItems: MAX_IDS, description: 'Ids of items' }))),
  datetime: Type.Optional(
    Nullable(Type.String({ minLength: 1, maxLength: 100, description: 'An instant, or start/end; .. leaves an end open' })),
  ),
  bbox: Type.Optional(Nullable(Type.With(Box, { description: 'West, south, east, north; not beside intersects' }))),
  intersects: Type.Optional(Nullable(Type.With(FreeForm, { description: 'A GeoJSON Polygon of at most 999 vertices' }))),
  filter: Type.Optional(Nullable(Type.With(FreeForm, { description: 'A CQL2-JSON expression' }))),
  'filter-lang': Type.Optional(Nullable(Type.String({ maxLength: 100, description: 'cql2-json, which is the default' }))),
  sortby: Type.Optional(Nullable(SortBy)),
  limit: Limit(10, 10_000),
  page: Defaulted(Type.Integer({ minimum: 0, description: 'Counted from zero' }), 0),
  format: Type.Optional(
    Nullable(
      Choice(['stac'], { description: 'stac: whole items with assets and all links; a filter may name properties that no item has' }),
    ),
  ),
  next: Type.Optional(
    Nullable(
      Type.String({ minLength: 1, maxLength: 4_096, description: 'The `next` of the page before: goes on exactly there, at any depth' }),
    ),
  ),
  query: Type.Optional(Nullable(Type.With(FreeForm, { description: 'Conditions as in the STAC Query extension' }))),
  fields: Type.Optional(
    Nullable(
      Closed({
        include: Type.Optional(Type.With(Names, { description: 'Fields to keep, such as properties.datetime' })),
        exclude: Type.Optional(Type.With(Names, { description: 'Fields to leave out' })),
      }),
    ),
  ),
  key: Type.Optional(Nullable(LinkKey)),
})
export type SearchFields = Received<typeof SearchInput>

/** The way to the pages around this one: what was sent, with another page. */
const SearchLink = Closed({
  ...StacLink.properties,
  method: Type.Optional(Type.Literal('POST', { description: 'How the address is asked; GET without it' })),
  body: Type.Optional(
    Closed({ page: Type.Integer({ description: 'The page that the link leads to' }) }, { description: 'What changes in the body' }),
  ),
  merge: Type.Optional(Type.Literal(true, { description: 'The rest of the body is that of this search' })),
})

/** `features` come last: whoever adds to the head of an answer need not read its body. */
export const FoundFeatures = Closed({
  type: Type.Literal('FeatureCollection'),
  links: Type.Array(SearchLink),
  context: Closed({
    limit: Type.Integer({ description: 'As asked for' }),
    returned: Type.Integer({ description: 'Features of this page' }),
    matched: Type.Optional(Type.Integer({ description: 'Features of all pages; with format stac only where counting is cheap' })),
    page: Type.Integer({ description: 'As asked for' }),
    pages: Type.Optional(Type.Integer({ description: 'Pages of this size' })),
    matched_estimated: Type.Optional(Type.Literal(true, { description: 'Present when there are too many to count out' })),
  }),
  next: Type.Optional(Type.String({ description: 'Present when another page follows' })),
  features: Type.Array(Type.Union([StacFeature, StacFeaturePart])),
})

/** For the reference. */
export const EXAMPLE_FOUND: Static<typeof FoundFeatures> = {
  type: 'FeatureCollection',
  links: [{ rel: 'self', href: 'https://imagery.example/stac/search', type: 'application/geo+json' }],
  context: { limit: 10, returned: 1, matched: 1, page: 0, pages: 1 },
  features: [EXAMPLE_FEATURE],
}
