/** Draws a graticule on the map, drawn anew when the map has moved. */
import type * as maplibre from '/assets/maplibre-gl.mjs'
import type { Notation, Projection } from './crs.ts'
import type { Box, Position } from './geo.ts'
import { gridLines, type GridLine } from './graticule.ts'
import type { SharedMap } from './shared-map.ts'

const SOURCE = 'graticule'
/** Of labels, from the edges of the map: clear of what lies in its corners. */
const LEFT_PX = 8
const BOTTOM_PX = 56
const TOP_PX = 60
const MAX_LATITUDE = 85

/** Light over dark is readable on any imagery, in either theme. */
const LAYERS: readonly maplibre.LayerSpecification[] = [
  {
    id: 'graticule-under',
    type: 'line',
    source: SOURCE,
    filter: ['==', ['geometry-type'], 'LineString'],
    paint: { 'line-color': '#13202a', 'line-width': 2.4, 'line-opacity': 0.35 },
  },
  {
    id: 'graticule-line',
    type: 'line',
    source: SOURCE,
    filter: ['==', ['geometry-type'], 'LineString'],
    paint: { 'line-color': '#ffffff', 'line-width': 1, 'line-opacity': 0.75 },
  },
  {
    id: 'graticule-text',
    type: 'symbol',
    source: SOURCE,
    filter: ['==', ['geometry-type'], 'Point'],
    layout: {
      'text-field': ['get', 'text'],
      'text-font': ['Noto Sans Regular'],
      'text-size': 11,
      'text-anchor': ['match', ['get', 'kind'], 'x', 'bottom', 'left'],
      'text-allow-overlap': true,
      'text-ignore-placement': true,
    },
    paint: { 'text-color': '#ffffff', 'text-halo-color': '#13202a', 'text-halo-width': 1.6 },
  },
]

/** Where a line crosses the edge that has its label; null where it does not, or where the toolbar or the scale would cover it. */
function labelAt(map: maplibre.Map, { kind, path }: GridLine, { edge, bottom }: { edge: number; bottom: number }): Position | null {
  const points = path.map((place) => map.project(place))
  const across = kind === 'x' ? 'y' : 'x'
  for (let index = 0; index + 1 < points.length; index++) {
    const [a, b] = [points[index]!, points[index + 1]!]
    if ((a[across] - edge) * (b[across] - edge) > 0) continue
    const share = a[across] === b[across] ? 0 : (edge - a[across]) / (b[across] - a[across])
    const [x, y] = [a.x + (b.x - a.x) * share, a.y + (b.y - a.y) * share]
    if (kind === 'y' && (y < TOP_PX || y > bottom)) return null
    const { lng, lat } = map.unproject([x, y])
    return [lng, lat]
  }
  return null
}

/** Both are asked each time the map has moved: the zone of the centre may be another. */
interface Grid {
  notation: Notation
  projectionAt(centre: Position): Projection | null
  /** What a sheet covers of the map, in pixels. */
  coveredPx(): number
}

/** The returned function removes it. */
export function showGraticule({ map, ready }: SharedMap, { notation, projectionAt, coveredPx }: Grid): () => void {
  let isStopped = false
  const draw = () => {
    const bounds = map.getBounds()
    const box: Box = [
      bounds.getWest(),
      Math.max(-MAX_LATITUDE, bounds.getSouth()),
      bounds.getEast(),
      Math.min(MAX_LATITUDE, bounds.getNorth()),
    ]
    const { lng, lat } = map.getCenter().wrap()
    const bottom = map.getContainer().clientHeight - coveredPx() - BOTTOM_PX
    const features = gridLines(box, notation, projectionAt([lng, lat])).flatMap((line): GeoJSON.Feature[] => {
      const at = labelAt(map, line, { edge: line.kind === 'x' ? bottom : LEFT_PX, bottom })
      const label = at && { type: 'Point' as const, coordinates: at }
      return [
        { type: 'Feature', properties: {}, geometry: { type: 'LineString', coordinates: line.path } },
        ...(label ? [{ type: 'Feature' as const, properties: { text: line.text, kind: line.kind }, geometry: label }] : []),
      ]
    })
    ;(map.getSource(SOURCE) as maplibre.GeoJSONSource | undefined)?.setData({ type: 'FeatureCollection', features })
  }
  void ready.then(() => {
    if (isStopped) return
    if (!map.getSource(SOURCE)) map.addSource(SOURCE, { type: 'geojson', data: { type: 'FeatureCollection', features: [] } })
    for (const layer of LAYERS) if (!map.getLayer(layer.id)) map.addLayer(layer)
    map.on('moveend', draw)
    map.on('resize', draw)
    draw()
  })
  return () => {
    isStopped = true
    map.off('moveend', draw)
    map.off('resize', draw)
    for (const { id } of LAYERS) if (map.getLayer(id)) map.removeLayer(id)
    if (map.getSource(SOURCE)) map.removeSource(SOURCE)
  }
}
