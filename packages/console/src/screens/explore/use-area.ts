/** The area of the search, in the address: drawn, entered, imported or opened, instead of the others or beside them. */
import { useCallback, useState } from 'react'
import {
  areaFromPolygons,
  areaOf,
  encodeArea,
  MAX_KEPT_VERTICES,
  MAX_POLYGONS,
  polygonsOf,
  type AreaShape,
  type Position,
} from '../../map/geo.ts'
import type { UrlPatch } from '../../state/url.ts'
import { toast } from '../../ui/toasts.tsx'

export interface AreaTool {
  /** Replaces the area; null removes it. */
  setArea(area: AreaShape | null): void
  /** One polygon more, or instead of the others. */
  takeArea(area: AreaShape | null): void
  takePolygons(polygons: readonly Position[][][], isAdded?: boolean): void
  isAdding: boolean
  setAdding(on: boolean): void
  isEditing: boolean
  setEditing(on: boolean): void
}

export function useAreaTool(area: AreaShape | null, setUrl: (patch: UrlPatch, push?: boolean) => void): AreaTool {
  const [isAdding, setAdding] = useState(false)
  const [isEditing, setEditing] = useState(false)
  const setArea = useCallback(
    (next: AreaShape | null) => {
      setAdding(false)
      setEditing(false)
      setUrl({ aoi: next ? encodeArea(next) : null, sel: null, place: null, ...(next ? { bbox: null } : {}) }, true)
    },
    [setUrl],
  )
  const takePolygons = useCallback(
    (polygons: readonly Position[][][], isAdded = isAdding) =>
      setArea(areaFromPolygons(kept([...(isAdded ? polygonsOf(area) : []), ...polygons]))),
    [area, isAdding, setArea],
  )
  const takeArea = useCallback(
    (next: AreaShape | null) => (next && isAdding ? takePolygons(polygonsOf(next), true) : setArea(next)),
    [isAdding, setArea, takePolygons],
  )
  return { setArea, takeArea, takePolygons, isAdding, setAdding, isEditing: isEditing && area !== null, setEditing }
}

/** The largest polygons, as many as can be searched, in their order. */
function kept(polygons: readonly Position[][][]): Position[][][] {
  const sizeOf = (coordinates: Position[][]) => areaOf({ type: 'Polygon', coordinates })
  const largest = polygons.toSorted((a, b) => sizeOf(b) - sizeOf(a)).slice(0, MAX_POLYGONS)
  while (largest.length > 1 && largest.flat(2).length > MAX_KEPT_VERTICES) largest.pop()
  if (largest.length < polygons.length) toast(`Using the ${largest.length} largest of ${polygons.length} polygons`)
  return polygons.filter((polygon) => largest.includes(polygon))
}
