import { useEffect, useState } from 'react'
import { isClosingPanel } from '../ui/closing-panel.ts'
import { sharedMap } from './shared-map.ts'

/** `lon,lat,zoom` in the address follows the map; the map follows the address when the screen opens, and on the way back. */
export function useCamera(map: string | undefined, setMap: (map: string) => void): void {
  const [shared] = useState(sharedMap)
  useEffect(() => {
    const jump = (place: string | null | undefined) => {
      const [longitude, latitude, zoom] = (place ?? '').split(',').map(Number)
      if (place && [longitude, latitude, zoom].every((part) => Number.isFinite(part)))
        shared.map.jumpTo({ center: [longitude!, latitude!], zoom: zoom! })
    }
    jump(map)
    const onBack = () => {
      if (!isClosingPanel()) jump(new URLSearchParams(location.search).get('map'))
    }
    addEventListener('popstate', onBack)
    const placeOf = () => {
      const { lng, lat } = shared.map.getCenter()
      return `${lng.toFixed(4)},${lat.toFixed(4)},${shared.map.getZoom().toFixed(2)}`
    }
    // The map also reports the end of a move when it was only resized.
    let last = placeOf()
    const onEnd = () => {
      const place = placeOf()
      if (place !== last) setMap(place)
      last = place
    }
    shared.map.on('moveend', onEnd)
    return () => {
      removeEventListener('popstate', onBack)
      shared.map.off('moveend', onEnd)
    }
    // Only when the screen opens: afterwards the map leads.
    // oxlint-disable-next-line exhaustive-deps
  }, [shared])
}
