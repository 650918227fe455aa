/** Fields of the two searches and their response. */
import Type, { type Static } from 'typebox'
import { Choice, Closed, Described, FreeForm, Limit, Nullable, Offset, type Received } from '#core/shapes.ts'
import { Box, ItemKind } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'
import { EXAMPLE_FEATURE, SortBy, StacFeature } from '#wire/stac.ts'

export const searchFields = {
  bbox: Described(
    Type.Optional(Nullable(Box)),
    'Bounding box as west, south, east, north in degrees; west is greater than east across the antimeridian',
  ),
  datetime: Described(
    Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 100 }))),
    'Acquisition time or interval `start/end`; `..` leaves an end open',
  ),
  collections: Described(Type.Optional(Nullable(Type.Array(ItemId, { maxItems: 100 }))), 'Only items of these collections'),
  type: Described(Type.Optional(Nullable(ItemKind)), 'Only items of this type'),
  query: Described(Type.Optional(Nullable(FreeForm)), 'Conditions on properties, all of which must hold: `{"eo:cloud_cover": {"lt": 10}}`'),
  sortby: Type.Optional(Nullable(SortBy)),
  limit: Limit(100, 1000),
  offset: Offset,
  format: Described(Type.Optional(Nullable(Choice(['stac']))), '`stac` to return complete STAC items'),
  base_url: Described(Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 500 }))), 'Base URL of links in the response'),
}

const Fields = Closed(searchFields)
export type SearchFields = Received<typeof Fields>

export const ItemSearchResult = Closed(
  {
    type: Type.Literal('FeatureCollection', { description: 'GeoJSON type, always `FeatureCollection`' }),
    features: Type.Array(StacFeature, { description: 'Items found, as STAC features' }),
    numberMatched: Type.Integer({ description: 'Number of features that match; an estimate above 1,001' }),
    numberReturned: Type.Integer({ description: 'Number of features returned' }),
    /** Present if there are too many to count exactly. */
    numberMatchedEstimated: Described(Type.Optional(Type.Literal(true)), 'Present and `true` if `numberMatched` is an estimate'),
  },
  { $id: 'ItemSearchResult', description: 'Items found, as STAC features' },
)

/** For the reference. */
export const EXAMPLE_SEARCH_RESULT: Static<typeof ItemSearchResult> = {
  type: 'FeatureCollection',
  features: [EXAMPLE_FEATURE],
  numberMatched: 1,
  numberReturned: 1,
}
