/** Draws the point, line or area of an annotation by pointer or finger. */
import { TerraDraw, TerraDrawLineStringMode, TerraDrawPointMode, TerraDrawPolygonMode } from 'terra-draw'
import { TerraDrawMapLibreGLAdapter } from 'terra-draw-maplibre-gl-adapter'
import type { SharedMap } from './shared-map.ts'

export type MarkMode = 'point' | 'linestring' | 'polygon'

/** Draws one shape. The returned function cancels. */
export function drawMark(shared: SharedMap, mode: MarkMode, onDone: (geometry: GeoJSON.Geometry) => void): () => void {
  let draw: TerraDraw | null = null
  let isStopped = false
  const stop = () => {
    isStopped = true
    draw?.stop()
    draw = null
  }
  void shared.ready.then(() => {
    if (isStopped) return
    draw = new TerraDraw({
      adapter: new TerraDrawMapLibreGLAdapter({ map: shared.map }),
      modes: [new TerraDrawPointMode(), new TerraDrawLineStringMode(), new TerraDrawPolygonMode()],
    })
    draw.start()
    draw.setMode(mode)
    draw.on('finish', (id) => {
      const shape = draw?.getSnapshot().find((feature) => feature.id === id)
      stop()
      if (shape) onDone(shape.geometry as GeoJSON.Geometry)
    })
  })
  return stop
}
