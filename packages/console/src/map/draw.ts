/** Draws an area by pointer or finger. Everything that can be drawn can also be entered as text. */
import { TerraDraw, TerraDrawCircleMode, TerraDrawPolygonMode, TerraDrawRectangleMode } from 'terra-draw'
import { TerraDrawMapLibreGLAdapter } from 'terra-draw-maplibre-gl-adapter'
import type { SharedMap } from './shared-map.ts'

export type DrawMode = 'polygon' | 'rectangle' | 'circle'

const SIGNAL = '#f2a33a' as const
const SHAPE = { fillColor: SIGNAL, fillOpacity: 0.15, outlineColor: SIGNAL, outlineWidth: 2 } as const
const POLYGON = {
  ...SHAPE,
  closingPointColor: '#ffffff',
  closingPointOutlineColor: SIGNAL,
  closingPointOutlineWidth: 2,
  closingPointWidth: 5,
} as const

interface DrawEvents {
  onDone(geometry: GeoJSON.Polygon | null): void
  /** With every move of the pointer: the shape as it would be if it were finished here. */
  onChange?(geometry: GeoJSON.Polygon): void
}

/** Draws one shape. The returned function cancels. */
export function drawArea(shared: SharedMap, mode: DrawMode, { onDone, onChange }: DrawEvents): () => void {
  let stopped = false
  let draw: TerraDraw | null = null
  const stop = () => {
    stopped = true
    draw?.stop()
    draw = null
  }
  void shared.ready.then(() => {
    if (stopped) return
    draw = new TerraDraw({
      adapter: new TerraDrawMapLibreGLAdapter({ map: shared.map }),
      modes: [
        new TerraDrawPolygonMode({ styles: POLYGON }),
        new TerraDrawRectangleMode({ styles: SHAPE }),
        new TerraDrawCircleMode({ styles: SHAPE }),
      ],
    })
    draw.start()
    draw.setMode(mode)
    draw.on('change', () => {
      const shape = draw?.getSnapshot().find(({ geometry }) => geometry.type === 'Polygon')
      if (shape) onChange?.(shape.geometry as GeoJSON.Polygon)
    })
    draw.on('finish', (id) => {
      const shape = draw?.getSnapshot().find((feature) => feature.id === id)
      stop()
      onDone(shape?.geometry.type === 'Polygon' ? (shape.geometry as GeoJSON.Polygon) : null)
    })
  })
  return stop
}
