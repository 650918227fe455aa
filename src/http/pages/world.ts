/** The base map's land and borders as GeoJSON, from the topology in `world-atlas`. */
import { feature, mesh } from 'topojson-client'

type Topology = Parameters<typeof feature>[0]
type Shape = Extract<ReturnType<typeof feature>, { type: 'Feature' }>['geometry']

/** A thousandth of a degree is a hundred metres: finer than the data. */
const STEPS_PER_DEGREE = 1_000

export function worldLand(topology: Topology): object {
  const land = feature(topology, topology.objects['land']!)
  const features = land.type === 'FeatureCollection' ? land.features : [land]
  return {
    type: 'GeometryCollection',
    geometries: features.map(({ geometry }) =>
      rounded({ type: 'MultiPolygon', coordinates: polygonsOf(geometry).map((rings) => rings.map(unwrapped)) }),
    ),
  }
}

/** Lines between countries; coasts come with the land. */
export function worldBorders(topology: Topology): object {
  return rounded(mesh(topology, topology.objects['countries'] as Parameters<typeof mesh>[1], (a, b) => a !== b))
}

/** The label position of each country: the centre of its largest part. Labels of large countries have priority. */
export function worldNames(topology: Topology): object {
  const countries = feature(topology, topology.objects['countries']!)
  const features = countries.type === 'FeatureCollection' ? countries.features : [countries]
  return {
    type: 'FeatureCollection',
    features: features.flatMap(({ properties, geometry }) => {
      const name: unknown = properties?.['name']
      const rings = polygonsOf(geometry).map(([outer]) => middleOf(unwrapped(outer!)))
      const [largest] = rings.toSorted((a, b) => b.area - a.area)
      if (typeof name !== 'string' || !largest) return []
      const point = rounded({ type: 'Point', coordinates: largest.middle })
      return [{ type: 'Feature', properties: { name, rank: -Math.round(largest.area * 10) }, geometry: point }]
    }),
  }
}

/** The centroid of a ring in degrees, and its area in square degrees, corrected for latitude. */
function middleOf(ring: Ring): { middle: Position; area: number } {
  let [doubled, x, y] = [0, 0, 0]
  ring.forEach(([x0 = 0, y0 = 0], index) => {
    const [x1 = 0, y1 = 0] = ring[(index + 1) % ring.length]!
    const cross = x0 * y1 - x1 * y0
    doubled += cross
    x += (x0 + x1) * cross
    y += (y0 + y1) * cross
  })
  const middle = doubled === 0 ? ring[0]! : [x / (3 * doubled), y / (3 * doubled)]
  return { middle, area: Math.abs(doubled / 2) * Math.cos((middle[1]! * Math.PI) / 180) }
}

type Position = number[]
type Ring = Position[]
type Nested = number | Nested[]
interface Geometry {
  type: string
  coordinates: Nested
}

function polygonsOf(shape: Shape): Ring[][] {
  if (shape.type === 'Polygon') return [shape.coordinates]
  return shape.type === 'MultiPolygon' ? shape.coordinates : []
}

/**
 * A ring that crosses the antimeridian continues beyond 180 degrees instead of jumping to the other side; a ring around a pole is
 * closed over it.
 */
function unwrapped(ring: Ring): Ring {
  let turn = 0
  const whole = ring.map(([x, y], index) => {
    const step = index === 0 ? 0 : x! - ring[index - 1]![0]!
    if (Math.abs(step) > 180) turn -= 360 * Math.sign(step)
    return [x! + turn, y!]
  })
  if (turn === 0) return whole
  const pole = whole[0]![1]! < 0 ? -90 : 90
  return [...whole, [whole.at(-1)![0]!, pole], [whole[0]![0]!, pole], whole[0]!]
}

const rounded = ({ type, coordinates }: Geometry): Geometry => ({ type, coordinates: round(coordinates) })
const round = (value: Nested): Nested =>
  typeof value === 'number' ? Math.round(value * STEPS_PER_DEGREE) / STEPS_PER_DEGREE : value.map(round)
