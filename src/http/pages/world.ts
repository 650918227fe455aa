/** The base map's land and borders, as GeoJSON, from the topology that `world-atlas` carries. */
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
 * A ring that jumps from one side of the date line to the other goes on past it instead; one that goes round the pole is closed
 * over it.
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
