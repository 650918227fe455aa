/** Parameters of processes that work on many items. */
import Type from 'typebox'
import { ItemId } from '#wire/ids.ts'
import type { OpenSource, SourceWish } from './process.ts'

const MAX_ITEMS = 200

export const Items = Type.Array(ItemId, {
  minItems: 1,
  maxItems: MAX_ITEMS,
  uniqueItems: true,
  description: 'The items to work on, in the order of preference',
})
export const Epsg = Type.Optional(
  Type.Integer({
    minimum: 1_000,
    maximum: 999_999,
    description: "EPSG code of the coordinates to write in; the first item's own by default",
  }),
)
export const Resolution = Type.Optional(
  Type.Number({ exclusiveMinimum: 0, description: "Side of a pixel in units of these coordinates; the first item's own by default" }),
)

interface ManyItems {
  readonly item_ids: readonly string[]
  readonly asset_key?: string
}

export const manySources = ({ item_ids, asset_key }: ManyItems): SourceWish[] =>
  item_ids.map((itemId, index) => ({ field: `item_ids.${index}`, itemId, assets: asset_key === undefined ? 'primary' : [asset_key] }))

/** When a scene was taken, for an order by time; what says nothing comes last. */
export const takenAt = ({ item }: Pick<OpenSource, 'item'>): number => (item?.datetime ?? item?.startDatetime)?.getTime() ?? -Infinity
