/** The base map's land and borders, as GeoJSON, from the topology that `world-atlas` carries. */
import { feature, mesh } from 'topojson-client'

type Topology = Parameters<typeof feature>[0]

/** A thousandth of a degree is a hundred metres: finer than the data. */
const STEPS_PER_DEGREE = 1_000

export function worldLand(topology: Topology): object {
  const { features } = feature(topology, topology.objects['land']!) as unknown as { features: { geometry: Geometry }[] }
  return { type: 'GeometryCollection', geometries: features.map(({ geometry }) => rounded(geometry)) }
}

/** Lines between countries; coasts come with the land. */
export function worldBorders(topology: Topology): object {
  return rounded(mesh(topology, topology.objects['countries'] as Parameters<typeof mesh>[1], (a, b) => a !== b))
}

type Nested = number | Nested[]
interface Geometry {
  type: string
  coordinates: Nested
}

const rounded = ({ type, coordinates }: Geometry): Geometry => ({ type, coordinates: round(coordinates) })
const round = (value: Nested): Nested => (typeof value === 'number' ? Math.round(value * STEPS_PER_DEGREE) / STEPS_PER_DEGREE : value.map(round))
