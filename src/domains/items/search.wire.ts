/** The fields of the two searches and of their answer. */
import Type, { type Static } from 'typebox'
import { Choice, Closed, FreeForm, Limit, Nullable, Offset, type Received } from '#core/shapes.ts'
import { Box, ItemKind } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'
import { EXAMPLE_FEATURE, SortBy, StacFeature } from '#wire/stac.ts'

export const searchFields = {
  bbox: Type.Optional(Nullable(Box)),
  datetime: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 100 }))),
  collections: Type.Optional(Nullable(Type.Array(ItemId, { maxItems: 100 }))),
  type: Type.Optional(Nullable(ItemKind)),
  query: Type.Optional(Nullable(FreeForm)),
  sortby: Type.Optional(Nullable(SortBy)),
  limit: Limit(100, 1000),
  offset: Offset,
  format: Type.Optional(Nullable(Choice(['stac']))),
  base_url: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 500 }))),
}

const Fields = Closed(searchFields)
export type SearchFields = Received<typeof Fields>

export const FoundItems = Closed({
  type: Type.Literal('FeatureCollection'),
  features: Type.Array(StacFeature),
  numberMatched: Type.Integer(),
  numberReturned: Type.Integer(),
  /** Present when there are too many to count out. */
  numberMatchedEstimated: Type.Optional(Type.Literal(true)),
})

/** For the reference. */
export const EXAMPLE_FOUND: Static<typeof FoundItems> = {
  type: 'FeatureCollection',
  features: [EXAMPLE_FEATURE],
  numberMatched: 1,
  numberReturned: 1,
}
