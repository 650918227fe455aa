/** Parameters of processes that work on many items. */
import Type from 'typebox'
import { ItemId } from '#wire/ids.ts'
import type { OpenSource, SourceRequest } from './process.ts'

const MAX_ITEMS = 200

export const Items = Type.Array(ItemId, {
  minItems: 1,
  maxItems: MAX_ITEMS,
  uniqueItems: true,
  description: 'Item IDs in order of preference',
})
export const Epsg = Type.Optional(
  Type.Integer({
    minimum: 1_000,
    maximum: 999_999,
    description: "EPSG code of the output; defaults to the first item's",
  }),
)
export const Resolution = Type.Optional(
  Type.Number({
    exclusiveMinimum: 0,
    description: "Pixel size in units of the output's coordinate reference system; defaults to the first item's",
  }),
)

interface ManyItemsParams {
  readonly item_ids: readonly string[]
  readonly asset_key?: string
}

export const manySources = ({ item_ids, asset_key }: ManyItemsParams): SourceRequest[] =>
  item_ids.map((itemId, index) => ({ field: `item_ids.${index}`, itemId, assets: asset_key === undefined ? 'primary' : [asset_key] }))

/** Acquisition time for sorting; scenes without one come last. */
export const acquiredAt = ({ item }: Pick<OpenSource, 'item'>): number => (item?.datetime ?? item?.startDatetime)?.getTime() ?? -Infinity
