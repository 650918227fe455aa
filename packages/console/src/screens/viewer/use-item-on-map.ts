import { useEffect } from 'react'
import type { Item } from '../../api/contract.ts'
import type { Box } from '../../map/geo.ts'
import type { LiveLook } from '../../map/live/live-layers.ts'
import { sharedMap } from '../../map/shared-map.ts'
import { tileUrl } from '../../state/style.ts'
import { termsOf } from '../../state/terms.ts'

export const ITEM_LAYER = 'item'

interface ItemLayer {
  /** The tiles of the item; null until they can be drawn. */
  tiles: string | null
  /** The same, with a style that is applied here; null if the service renders it. */
  live: LiveLook | null
  opacity: number
  visible: boolean
  /** Whether a frame of the timelapse is shown in its place. */
  isCovered: boolean
  /** Ids of items that are drawn below it. */
  below: readonly string[]
}

/** Draws the item above the others, and shows where it is unless the address says so. */
export function useItemOnMap(item: Item, { tiles, live, opacity, visible, isCovered, below }: ItemLayer): void {
  useEffect(() => {
    sharedMap().setFootprints([{ id: item.id, geometry: item.geometry }])
    if (!new URLSearchParams(location.search).has('map')) sharedMap().fit(item.bbox as Box | null, { animate: false })
  }, [item])
  const belowKey = below.join()
  const { attribution } = termsOf(item.properties)
  useEffect(() => {
    sharedMap().setRasters([
      ...below.map((id) => ({ id: `item-${id}`, tiles: tileUrl(id, '') })),
      ...(tiles
        ? [{ id: ITEM_LAYER, tiles, live, opacity, visible, isCovered, attribution, ...(item.bbox ? { bounds: item.bbox as Box } : {}) }]
        : []),
    ])
    // oxlint-disable-next-line exhaustive-deps
  }, [tiles, live, opacity, visible, isCovered, belowKey, item.bbox])
}
