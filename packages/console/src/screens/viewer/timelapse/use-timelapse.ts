/** The frames of an item's collection on the map: which one is wanted, which one is seen, and whether they are playing. */
import { useEffect, useMemo, useRef, useState } from 'react'
import type { Item } from '../../../api/contract.ts'
import { useOp } from '../../../api/query.ts'
import { FramePlayer, type MapFrame, type ShownFrame } from '../../../map/frame-player.ts'
import type { Box } from '../../../map/geo.ts'
import { sharedMap } from '../../../map/shared-map.ts'
import { formatRange, tileQuery, tileUrl } from '../../../state/style.ts'
import { termsOf } from '../../../state/terms.ts'
import { useUrl } from '../../../state/url.ts'
import type { ItemStyle } from '../use-item-style.ts'
import { useLegendRange } from '../use-legend-range.ts'
import { frameShown } from './frame-shown.ts'
import { frameMsOf, framesOf, indexOfDay, speedOf, withAsset, type Frame, type Speed } from './frames.ts'

const MAX_ITEMS = 1_000

/** `opacity` is that of the item's layer, in whose place the frames are. */
export function useTimelapse(item: Item, itemStyle: ItemStyle, opacity: number) {
  const [url, setUrl] = useUrl()
  const collection = useOp(
    'items.list_by_collection',
    { collection_id: item.collection_id ?? '', limit: MAX_ITEMS },
    { enabled: item.collection_id !== null, staleTime: 60_000 },
  )
  const frames = useMemo(() => framesOf(collection.data?.items ?? [], item.bbox), [collection.data, item.bbox])
  const mapFrames = useMapFrames(item, itemStyle, frames)
  // What the address names stands still, and nothing moves that was not asked to if the system says so.
  const [isPlaying, setPlaying] = useState(url['frame'] === undefined && !matchMedia('(prefers-reduced-motion: reduce)').matches)
  const [chosen, setChosen] = useState<number | null>(null)
  const first = useMemo(() => indexOfDay(frames, url['frame'] ?? item.datetime), [frames]) // oxlint-disable-line exhaustive-deps
  const index = Math.min(chosen ?? first, Math.max(0, frames.length - 1))
  const { player, shown } = useFramePlayer(mapFrames, index, opacity)
  const speed = speedOf(url['speed'])
  useEffect(() => {
    if (!isPlaying || frames.length < 2 || shown?.index !== index) return
    const timer = setTimeout(() => setChosen((index + 1) % frames.length), frameMsOf(speed))
    return () => clearTimeout(timer)
  }, [isPlaying, frames, shown, index, speed])
  const goTo = (next: number) => {
    setPlaying(false)
    setChosen(next)
    setUrl({ frame: frames[next]!.day })
  }
  return {
    collection,
    frames,
    /** The frame that is wanted; it is shown as soon as it is drawn. */
    index,
    shown,
    isPlaying,
    speed,
    player,
    goTo,
    step: (by: number) => goTo((index + by + frames.length) % frames.length),
    play() {
      setPlaying(true)
      setUrl({ frame: null })
    },
    pause: () => goTo(shown?.index ?? index),
    setSpeed: (next: Speed) => setUrl({ speed: next }),
  }
}

/** The layers of each frame, with one range of values for all of them, so that a colour means the same on every date. */
function useMapFrames(item: Item, { drawnStyle, assetKey, isReady, presets }: ItemStyle, frames: readonly Frame[]): readonly MapFrame[] {
  const hasRange = drawnStyle.kind !== 'colour'
  const range = useLegendRange(item.id, drawnStyle, assetKey, isReady && hasRange)
  const hasAsset = useHasAsset(item, assetKey)
  const isKnown = isReady && presets.length > 0 && (!hasRange || range !== null) && hasAsset !== null
  const style = range && hasRange ? { ...drawnStyle, rescale: formatRange(range) } : drawnStyle
  const [query, queryOfOthers] = [tileQuery(style, assetKey), tileQuery(style, null)]
  return useMemo(
    () =>
      isKnown
        ? frames.map(({ items }) =>
            items.map(({ id, bbox, properties }) => ({
              tiles: tileUrl(id, hasAsset(id) ? query : queryOfOthers),
              bounds: (bbox as Box | null) ?? undefined,
              attribution: termsOf(properties).attribution,
            })),
          )
        : [],
    [frames, query, queryOfOthers, isKnown, hasAsset],
  )
}

const always = () => true

/** Whether an item of the collection has the asset; where it has not, its default raster is shown. Null until that is known. */
function useHasAsset(item: Item, assetKey: string | null): ((id: string) => boolean) | null {
  const { data, isError } = useOp(
    'items.search',
    { project_id: item.project_id, collections: [item.collection_id ?? ''], format: 'stac', limit: MAX_ITEMS },
    { enabled: assetKey !== null && item.collection_id !== null, staleTime: 60_000 },
  )
  return useMemo(() => {
    if (assetKey === null || isError) return always
    const ids = data && withAsset(data.features, assetKey)
    return ids ? (id: string) => ids.has(id) : null
  }, [assetKey, data, isError])
}

function useFramePlayer(mapFrames: readonly MapFrame[], index: number, opacity: number) {
  const [shown, setShown] = useState<ShownFrame | null>(null)
  const [player, setPlayer] = useState<FramePlayer | null>(null)
  const known = useRef<readonly MapFrame[]>([])
  useEffect(() => {
    const created = new FramePlayer(sharedMap(), (next) => {
      setShown(next)
      frameShown.set(next !== null)
    })
    setPlayer(created)
    return () => created.close()
  }, [])
  useEffect(() => player?.setOpacity(opacity), [player, opacity])
  useEffect(() => {
    if (known.current === mapFrames) player?.goTo(index)
    else player?.setFrames(mapFrames, index)
    if (player) known.current = mapFrames
  }, [player, mapFrames, index])
  return { player, shown }
}
