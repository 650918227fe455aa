/** What processes of one item have in common: where the raster is, and the item that comes of it. */
import { COG_TYPE } from '#services/ingest/intake.ts'
import type { OpenSource, ProducedAsset, ProducedItem, SourceWish } from './process.ts'

interface OneItem {
  readonly item_id: string
  readonly asset_key?: string
}

export const oneSource = ({ item_id, asset_key }: OneItem): readonly SourceWish[] => [
  { field: 'item_id', itemId: item_id, assets: asset_key === undefined ? 'primary' : [asset_key] },
]

interface Made extends Omit<ProducedItem, 'name' | 'type' | 'assets'> {
  /** Chosen by the caller. */
  readonly name: string | undefined
  /** What was done to it, after the item's own name. */
  readonly suffix: string
  readonly path: string
  readonly bandNames?: readonly string[]
  readonly isCategorical?: boolean
  readonly more?: readonly ProducedAsset[]
}

/** One raster that was made of one or several items, which says of its times what they say. */
export function derivedRaster(
  sources: readonly OpenSource[],
  { name, suffix, path, bandNames, isCategorical, more = [], ...rest }: Made,
): ProducedItem {
  const data: ProducedAsset = {
    key: 'data',
    title: suffix,
    roles: ['data'],
    mediaType: COG_TYPE,
    path,
    ...(bandNames ? { bandNames } : {}),
    ...(isCategorical === undefined ? {} : { isCategorical }),
  }
  return {
    ...timesOf(sources),
    ...rest,
    name: name ?? `${sources[0]?.item?.name ?? 'Raster'}, ${suffix}`,
    type: 'derived_raster',
    assets: [data, ...more],
  }
}

/** The moment of one source; of several, from the first to the last. */
export function timesOf(sources: readonly OpenSource[]): Pick<ProducedItem, 'datetime' | 'startDatetime' | 'endDatetime'> {
  const [first] = sources
  if (sources.length === 1 && first?.item)
    return { datetime: first.item.datetime, startDatetime: first.item.startDatetime, endDatetime: first.item.endDatetime }
  const times = sources
    .flatMap(({ item }) => (item ? [item.startDatetime ?? item.datetime, item.endDatetime ?? item.datetime] : []))
    .filter((at) => at !== null)
    .toSorted((a, b) => a.getTime() - b.getTime())
  return times.length === 0 ? {} : { datetime: null, startDatetime: times[0]!, endDatetime: times.at(-1)! }
}
