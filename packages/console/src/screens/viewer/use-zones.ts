import { useCallback, useMemo } from 'react'
import { useUrl } from '../../state/url.ts'
import { formatZones, parseZones, type Zone } from './zones.ts'

export function useZones(): [readonly Zone[], (shapes: readonly GeoJSON.Polygon[]) => void] {
  const [url, setUrl] = useUrl()
  const text = url['zones'] ?? ''
  const zones = useMemo(() => parseZones(text), [text])
  const set = useCallback((shapes: readonly GeoJSON.Polygon[]) => setUrl({ zones: formatZones(shapes) || null }), [setUrl])
  return [zones, set]
}
