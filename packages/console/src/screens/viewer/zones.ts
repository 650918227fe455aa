/** Places that are measured: kept in the address, drawn on the map, named by letters. */
import { useCallback, useMemo } from 'react'
import { decodeArea, encodeArea } from '../../map/geo.ts'
import { useUrl } from '../../state/url.ts'
import type { Look } from '../../state/style.ts'

export const MAX_ZONES = 6
const BETWEEN = ';'

export interface Zone {
  name: string
  /** A token. */
  colour: string
  shape: GeoJSON.Polygon
}

export function useZones(): [readonly Zone[], (shapes: readonly GeoJSON.Polygon[]) => void] {
  const [url, setUrl] = useUrl()
  const text = url['zones'] ?? ''
  const zones = useMemo(
    () =>
      text
        .split(BETWEEN)
        .slice(0, MAX_ZONES)
        .flatMap((part) => decodeArea(part) ?? [])
        .map((shape, index): Zone => ({ name: String.fromCharCode(65 + index), colour: `--c${index + 1}`, shape })),
    [text],
  )
  const set = useCallback((shapes: readonly GeoJSON.Polygon[]) => setUrl({ zones: shapes.map(encodeArea).join(BETWEEN) || null }), [setUrl])
  return [zones, set]
}

/** What is measured over time is one number: the expression that is shown, or its first band. */
export const measureOf = (look: Look): string => look.expression ?? `b${look.bands?.[0] ?? 1}`
