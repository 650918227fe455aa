/** Where a screen shows the map: the one map moves in when the screen opens. */
import { useEffect, useLayoutEffect, useRef, useState, type ReactElement, type ReactNode } from 'react'
import { Icon } from '../ui/icons.tsx'
import { theStage, type Stage } from './stage.ts'

const useStage = () => useState(theStage)[0]

export function MapSlot({ children, onStage }: { children?: ReactNode; onStage?(stage: Stage): void }): ReactElement {
  const slot = useRef<HTMLDivElement>(null)
  const stage = useStage()
  useLayoutEffect(() => {
    slot.current!.prepend(stage.element)
    stage.map.resize()
    onStage?.(stage)
    return () => stage.clear()
    // The screen's own effects say what is on it.
    // oxlint-disable-next-line exhaustive-deps
  }, [stage])
  return (
    <div className="mapw" ref={slot}>
      <div className="float tools map-zoom">
        <button type="button" aria-label="Zoom in" title="Zoom in" onClick={() => stage.map.zoomIn()}>
          <Icon name="zoomin" />
        </button>
        <button type="button" aria-label="Zoom out" title="Zoom out" onClick={() => stage.map.zoomOut()}>
          <Icon name="zoomout" />
        </button>
      </div>
      {children}
    </div>
  )
}

/** `lon,lat,zoom` in the address follows the map, and the map the address when the screen opens. */
export function useCamera(map: string | undefined, setMap: (map: string) => void): void {
  const stage = useStage()
  useEffect(() => {
    const [longitude, latitude, zoom] = (map ?? '').split(',').map(Number)
    if (map && [longitude, latitude, zoom].every((part) => Number.isFinite(part)))
      stage.map.jumpTo({ center: [longitude!, latitude!], zoom: zoom! })
    const onEnd = () => {
      const { lng, lat } = stage.map.getCenter()
      setMap(`${lng.toFixed(4)},${lat.toFixed(4)},${stage.map.getZoom().toFixed(2)}`)
    }
    stage.map.on('moveend', onEnd)
    return () => void stage.map.off('moveend', onEnd)
    // Only when the screen opens: afterwards the map leads.
    // oxlint-disable-next-line exhaustive-deps
  }, [stage])
}
