import { useEffect, useRef, useState } from 'react'
import type { DrawMode } from '../../map/draw.ts'
import { sharedMap } from '../../map/shared-map.ts'

interface DrawTool {
  /** What is being drawn; null for nothing. */
  mode: DrawMode | null
  /** The shape so far, while it is drawn. */
  drawn: GeoJSON.Polygon | null
  /** Begins to draw, or cancels if this is being drawn already. */
  toggle(mode: DrawMode): Promise<void>
  cancel(): void
}

/** Draws one shape at a time on the shared map; Esc cancels. */
export function useDrawTool(onArea: (area: GeoJSON.Polygon) => void): DrawTool {
  const [mode, setMode] = useState<DrawMode | null>(null)
  const [drawn, setDrawn] = useState<GeoJSON.Polygon | null>(null)
  const stop = useRef<(() => void) | null>(null)
  const cancel = () => {
    stop.current?.()
    stop.current = null
    setMode(null)
    setDrawn(null)
  }
  useEffect(() => () => stop.current?.(), [])
  useEffect(() => {
    if (mode === null) return
    const onKey = (event: KeyboardEvent) => event.key === 'Escape' && cancel()
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [mode])
  const toggle = async (next: DrawMode) => {
    cancel()
    if (next === mode) return
    setMode(next)
    const { drawArea } = await import('../../map/draw.ts')
    stop.current = drawArea(sharedMap(), next, {
      onChange: setDrawn,
      onDone: (shape) => {
        stop.current = null
        setMode(null)
        setDrawn(null)
        if (shape) onArea(shape)
      },
    })
  }
  return { mode, drawn, toggle, cancel }
}
