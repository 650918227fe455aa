import { useEffect, useState } from 'react'
import { sharedMap } from './shared-map.ts'

/** `lon,lat,zoom` in the address follows the map; the map follows the address when the screen opens. */
export function useCamera(map: string | undefined, setMap: (map: string) => void): void {
  const [shared] = useState(sharedMap)
  useEffect(() => {
    const [longitude, latitude, zoom] = (map ?? '').split(',').map(Number)
    if (map && [longitude, latitude, zoom].every((part) => Number.isFinite(part)))
      shared.map.jumpTo({ center: [longitude!, latitude!], zoom: zoom! })
    const onEnd = () => {
      const { lng, lat } = shared.map.getCenter()
      setMap(`${lng.toFixed(4)},${lat.toFixed(4)},${shared.map.getZoom().toFixed(2)}`)
    }
    shared.map.on('moveend', onEnd)
    return () => void shared.map.off('moveend', onEnd)
    // Only when the screen opens: afterwards the map leads.
    // oxlint-disable-next-line exhaustive-deps
  }, [shared])
}
