/** Shared by processes of one item: their source and the derived item. */
import { COG_TYPE } from '#services/ingest/intake.ts'
import type { OpenSource, ProducedAsset, ProducedItem, SourceRequest } from './process.ts'

interface SingleItemParams {
  readonly item_id: string
  readonly asset_key?: string
}

export const singleSource = ({ item_id, asset_key }: SingleItemParams): readonly SourceRequest[] => [
  { field: 'item_id', itemId: item_id, assets: asset_key === undefined ? 'primary' : [asset_key] },
]

interface DerivedRaster extends Omit<ProducedItem, 'name' | 'type' | 'assets'> {
  /** The caller's name for the item. */
  readonly name: string | undefined
  /** Appended to the source's name by default. */
  readonly suffix: string
  readonly path: string
  readonly bandNames?: readonly string[]
  readonly isCategorical?: boolean
  readonly more?: readonly ProducedAsset[]
}

/** An item with one raster that was derived from other items and takes its times from them. */
export function derivedRaster(
  sources: readonly OpenSource[],
  { name, suffix, path, bandNames, isCategorical, more = [], ...rest }: DerivedRaster,
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

/** The time of a single source, or the range of several. */
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
