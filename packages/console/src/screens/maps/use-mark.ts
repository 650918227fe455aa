import { useEffect, useRef, useState } from 'react'
import type { Position } from '../../map/geo.ts'
import { editPath, type PathEditor } from '../../map/path-editor.ts'
import { polygonOf, roundedPlace } from '../../map/path.ts'
import { sharedMap } from '../../map/shared-map.ts'

export type MarkMode = 'point' | 'line' | 'area'

interface Mark {
  count: number
  isComplete: boolean
  finish(): void
  removeLast(): void
}

/** The shape of what was set so far; null until there is enough of it. */
function shapeOf(mode: MarkMode, points: readonly Position[]): GeoJSON.Geometry | null {
  if (mode === 'area') return polygonOf(points)
  if (mode === 'point') return points[0] ? { type: 'Point', coordinates: points[0] } : null
  return points.length > 1 ? { type: 'LineString', coordinates: [...points] } : null
}

/** One point, line or area, set on the map by pointer, finger or keys as with the tools of the viewer. Esc cancels. */
export function useMark(mode: MarkMode, onDone: (geometry: GeoJSON.Geometry) => void, onCancel: () => void): Mark {
  const [points, setPoints] = useState<readonly Position[]>([])
  const editor = useRef<PathEditor | null>(null)
  const finish = (made: readonly Position[] = points) => {
    const shape = shapeOf(mode, made)
    if (shape) onDone(shape)
  }
  const set = (next: readonly Position[]) => {
    const places = next.map(roundedPlace)
    if (mode === 'point') finish(places)
    else setPoints(places)
  }
  const latest = useRef({ set, finish, onCancel })
  useEffect(() => {
    latest.current = { set, finish, onCancel }
  })
  useEffect(() => {
    const { map } = sharedMap()
    const started = editPath(sharedMap(), mode === 'area', {
      onChange: (next) => latest.current.set(next),
      onPreview: () => undefined,
      onFinish: () => latest.current.finish(),
    })
    editor.current = started
    // So that Enter sets a point at once.
    map.getCanvas().focus({ preventScroll: true })
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement
      if (event.key === 'Escape' && !event.defaultPrevented && !target.closest('dialog, [popover]')) latest.current.onCancel()
    }
    addEventListener('keydown', onKey)
    return () => {
      removeEventListener('keydown', onKey)
      started.stop()
    }
  }, [mode])
  useEffect(() => editor.current?.show(points, false), [points, mode])
  return {
    count: points.length,
    isComplete: shapeOf(mode, points) !== null,
    finish: () => finish(),
    removeLast: () => setPoints(points.slice(0, -1)),
  }
}
