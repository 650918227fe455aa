import { useEffect, useState } from 'react'
import type { Position } from '../../map/geo.ts'
import { sharedMap } from '../../map/shared-map.ts'

const MAX_PINS = 5
/** At most eight requests a second while the pointer moves. */
const MIN_INTERVAL_MS = 125

export interface Pointer {
  at: Position | null
  /** Places that were clicked or typed, newest first. */
  pins: readonly Position[]
  pin(at: Position): void
  clear(): void
}

const isSame = (a: Position, b: Position) => a[0] === b[0] && a[1] === b[1]

/** Where the pointer is on the map, and what was pinned by a click. */
export function usePointer(isActive: boolean): Pointer {
  const [at, setAt] = useState<Position | null>(null)
  const [pins, setPins] = useState<readonly Position[]>([])
  const pin = (place: Position) => setPins((before) => [place, ...before.filter((other) => !isSame(other, place))].slice(0, MAX_PINS))
  useEffect(() => {
    if (!isActive) return
    const { map } = sharedMap()
    let last = 0
    const onMove = ({ lngLat }: { lngLat: { lng: number; lat: number } }) => {
      if (performance.now() - last < MIN_INTERVAL_MS) return
      last = performance.now()
      setAt([lngLat.lng, lngLat.lat])
    }
    const onClick = ({ lngLat }: { lngLat: { lng: number; lat: number } }) => {
      setAt([lngLat.lng, lngLat.lat])
      pin([lngLat.lng, lngLat.lat])
    }
    map.on('mousemove', onMove)
    map.on('click', onClick)
    map.getCanvas().style.cursor = 'crosshair'
    return () => {
      map.off('mousemove', onMove)
      map.off('click', onClick)
      map.getCanvas().style.cursor = ''
    }
  }, [isActive])
  useEffect(() => sharedMap().setPoints(isActive ? pins : []), [pins, isActive])
  return { at, pins, pin, clear: () => setPins([]) }
}
