import { useEffect } from 'react'
import { useOp } from '../../api/query.ts'
import { sharedMap } from '../../map/shared-map.ts'
import { foundItem, type FoundItem } from '../../state/found-item.ts'

const STALE_MS = 60_000
/** Close enough to recognize the place. */
const MAX_ZOOM = 14

/** Before anything is searched, the map shows the newest item of the organization; null if it has no raster. */
export function useNewestItem(enabled: boolean): FoundItem | null {
  const { data } = useOp('items.search_org', { limit: 1, format: 'stac' }, { enabled, staleTime: STALE_MS })
  const [feature] = data?.features ?? []
  const isRaster = Object.values(feature?.assets ?? {}).some((asset) => String((asset as { type?: unknown }).type).includes('tiff'))
  const item = enabled && feature && isRaster ? foundItem(feature) : null
  const box = item?.bbox?.join()
  useEffect(() => {
    if (item?.bbox && !new URLSearchParams(location.search).has('map')) sharedMap().fit(item.bbox, { animate: false, maxZoom: MAX_ZOOM })
    // oxlint-disable-next-line exhaustive-deps
  }, [box])
  return item
}
