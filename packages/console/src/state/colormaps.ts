import type { Colormap } from '../api/contract.ts'
import { useOp } from '../api/query.ts'

const GREY = 'linear-gradient(90deg,#000,#fff)'

export function useColormaps(): readonly Colormap[] {
  const maps = useOp('cog.colormaps', {}, { staleTime: 3_600_000 })
  return (maps.data?.groups ?? []).flatMap(({ colormaps }) => colormaps)
}

/** A colormap as a CSS background, from left to right; grey without one. */
export function rampOf(map: Colormap | undefined): string {
  if (!map) return GREY
  return `linear-gradient(90deg,${map.stops.map(({ position, color }) => `${color} ${Math.round(position * 100)}%`).join(',')})`
}
