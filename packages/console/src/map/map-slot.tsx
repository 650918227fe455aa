/** Where a screen shows the map: the one map moves in when the screen opens. */
import { useEffect, useLayoutEffect, useRef, useState, type ReactElement, type ReactNode } from 'react'
import { Icon } from '../ui/icons.tsx'
import { sharedMap, type SharedMap } from './shared-map.ts'
import { classes } from '../ui/classes.ts'
import styles from './map-slot.module.css'

const useSharedMap = () => useState(sharedMap)[0]

export function MapSlot({ children, onSharedMap }: { children?: ReactNode; onSharedMap?(shared: SharedMap): void }): ReactElement {
  const slot = useRef<HTMLDivElement>(null)
  const shared = useSharedMap()
  useLayoutEffect(() => {
    slot.current!.prepend(shared.element)
    shared.map.resize()
    onSharedMap?.(shared)
    return () => shared.clear()
    // The screen's own effects say what is on it.
    // oxlint-disable-next-line exhaustive-deps
  }, [shared])
  return (
    <div className={styles.slot} ref={slot}>
      <div className={classes(styles.floating, styles.toolbar, styles.zoom)}>
        <button type="button" aria-label="Zoom in" title="Zoom in" onClick={() => shared.map.zoomIn()}>
          <Icon name="zoomin" />
        </button>
        <button type="button" aria-label="Zoom out" title="Zoom out" onClick={() => shared.map.zoomOut()}>
          <Icon name="zoomout" />
        </button>
      </div>
      {children}
    </div>
  )
}

/** `lon,lat,zoom` in the address follows the map, and the map the address when the screen opens. */
export function useCamera(map: string | undefined, setMap: (map: string) => void): void {
  const shared = useSharedMap()
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
