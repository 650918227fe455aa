/** How much an index changed between two items, in the part of them that the map shows. */
import { useEffect, useState } from 'react'
import type { Item } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { boxPolygon, type Box } from '../../map/geo.ts'
import { sharedMap } from '../../map/shared-map.ts'

export interface ChangedPart {
  area_ha: number
  fraction: number
}
/** The result of `analytics.execute` with `change_detection`. */
export interface ChangeResult {
  before: { mean: number; expression: string }
  after: { mean: number; expression: string }
  change_threshold: number
  gain: ChangedPart
  loss: ChangedPart
  unchanged: ChangedPart
  difference: { histogram: { counts: number[]; edges: number[] } }
}

/** The part of the item that the map shows; all of it if it shows none. */
function visiblePart(box: Box): Box {
  const [west, south, east, north] = sharedMap().viewBox()
  const visible: Box = [Math.max(west, box[0]), Math.max(south, box[1]), Math.min(east, box[2]), Math.min(north, box[3])]
  return visible[0] < visible[2] && visible[1] < visible[3] ? visible : box
}

/** The service names itself by its public address; the session is for the one that this page came from. */
const onThisOrigin = (url: string) => url.replace(/^https?:\/\/[^/]+/, location.origin)

interface ChangeParts {
  a: Item | undefined
  b: Item | undefined
  style: string
  /** Whether the difference is on the map, for which it is measured at once. */
  isShown: boolean
}

export function useChange({ a, b, style, isShown }: ChangeParts) {
  const index = style === 'ndwi' ? 'ndwi' : 'ndvi'
  const key = a?.bbox && b ? `${a.id} ${b.id} ${index}` : null
  const [measured, setMeasured] = useState<{ key: string; area: GeoJSON.Polygon } | null>(null)
  const area = measured !== null && measured.key === key ? measured.area : null
  const measure = () => {
    if (key !== null) setMeasured({ key, area: boxPolygon(visiblePart(a!.bbox as Box)) })
  }
  const isDue = isShown && key !== null && area === null
  useEffect(() => {
    if (isDue) measure()
    // oxlint-disable-next-line exhaustive-deps
  }, [isDue])
  // By their dates, whichever side they are on.
  const [before, after] = (a?.datetime ?? '') <= (b?.datetime ?? '') ? [a, b] : [b, a]
  const params = { before_item_id: before?.id ?? '', after_item_id: after?.id ?? '', geometry: area!, index_name: index }
  const query = useOp('analytics.execute', { operation: 'change_detection', params }, { enabled: area !== null, staleTime: 300_000 })
  const { tile_template: tiles, url } = query.data?.raster ?? {}
  return {
    /** As it is written. */
    indexName: index.toUpperCase(),
    area,
    query,
    result: query.data?.result as ChangeResult | undefined,
    /** The collection of the later item. */
    collectionId: after?.collection_id ?? null,
    /** The tiles of the difference. */
    tiles: tiles ? onThisOrigin(tiles) : null,
    /** Where the difference can be downloaded as a COG. */
    downloadUrl: url ?? null,
    measure,
    close: () => setMeasured(null),
  }
}

export type Change = ReturnType<typeof useChange>
