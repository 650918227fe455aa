import { useMemo } from 'react'
import { useOp } from '../../api/query.ts'
import type { LiveLook } from '../../map/live/live-layers.ts'
import { dataTileUrl, parseRange, type Style } from '../../state/style.ts'

/** Heights in these colours are hillshaded, which only the service does. */
const SHADED: readonly (string | null)[] = ['hypsometric', 'relief', 'terrain', 'gist_earth']

/** The colours of one colormap as bytes, of which the list has only a few. */
const bytesOf = (colors: readonly string[]) =>
  Uint8Array.from(colors.flatMap((color) => [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))))

/** A style as the map can apply it by itself; null if it cannot, or until its colours are known. */
export function useLiveLook(itemId: string, style: Style, assetKey: string | null, isWanted: boolean): LiveLook | null {
  const colormap = style.kind === 'colour' ? null : style.colormap
  const isPossible = isWanted && !(style.kind === 'band' && SHADED.includes(colormap))
  const maps = useOp('cog.colormaps', { id: colormap ?? '' }, { enabled: isPossible && colormap !== null, staleTime: Infinity, keep: true })
  const table = maps.data?.groups[0]?.colormaps[0]?.colors
  const colors = useMemo(() => (colormap !== null && table ? bytesOf(table) : null), [colormap, table])
  const tiles = dataTileUrl(itemId, style, assetKey)
  return useMemo(
    () => (isPossible && (colormap === null || colors) ? { tiles, range: parseRange(style.rescale), colors } : null),
    [isPossible, colormap, colors, tiles, style.rescale],
  )
}
