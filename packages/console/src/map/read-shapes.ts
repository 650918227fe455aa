/** All points, lines and areas of a text, with their names: GeoJSON, KML, GPX or WKT. Nothing of it is ever shown as markup. */
import { AreaProblem, parseXml, readArea } from './read-area.ts'

export interface Shape {
  name: string | null
  geometry: GeoJSON.Geometry
}

const MAX_SHAPES = 5_000
const MAX_NAME = 200

export async function readShapes(text: string): Promise<Shape[]> {
  const trimmed = text.trim()
  const shapes = trimmed.startsWith('{') ? fromGeoJson(trimmed) : trimmed.startsWith('<') ? await fromXml(trimmed) : await fromText(trimmed)
  requireFew(shapes)
  for (const { geometry } of shapes) requireDegrees((geometry as GeoJSON.Point).coordinates)
  return shapes
}

/** As many as a map can have. */
export function requireFew(shapes: readonly Shape[]): void {
  if (shapes.length > MAX_SHAPES) throw new AreaProblem('The file has more than 5,000 shapes. Export fewer of them.')
}

function fromGeoJson(text: string): Shape[] {
  try {
    return shapesIn(JSON.parse(text) as GeoJSON.GeoJSON, null)
  } catch (error) {
    if (error instanceof AreaProblem) throw error
    throw new AreaProblem('This is not valid JSON.')
  }
}

const listed = <T>(value: T[] | undefined): T[] => (Array.isArray(value) ? value : [])

function shapesIn(value: GeoJSON.GeoJSON | null | undefined, name: string | null): Shape[] {
  if (!value) return []
  switch (value.type) {
    case 'FeatureCollection':
      return listed(value.features).flatMap((feature) => shapesIn(feature, null))
    case 'Feature':
      return shapesIn(value.geometry, nameOf(value.properties))
    case 'GeometryCollection':
      return listed(value.geometries).flatMap((geometry) => shapesIn(geometry, name))
    default:
      return Array.isArray(value.coordinates)
        ? [{ name, geometry: { type: value.type, coordinates: value.coordinates } as GeoJSON.Geometry }]
        : []
  }
}

const nameOf = (properties: GeoJSON.GeoJsonProperties): string | null => {
  const name: unknown = properties?.['name'] ?? properties?.['NAME'] ?? properties?.['title']
  return typeof name === 'string' && name.trim() !== '' ? name.trim().slice(0, MAX_NAME) : null
}

async function fromXml(text: string): Promise<Shape[]> {
  const { features } = await parseXml(text)
  return features.flatMap((feature) => shapesIn(feature as GeoJSON.Feature, null))
}

async function fromText(text: string): Promise<Shape[]> {
  const read = await readArea(text)
  if (!read) throw new AreaProblem('Unknown format. Use GeoJSON, KML, GPX or WKT.')
  if (read.kind === 'place') return [{ name: null, geometry: { type: 'Point', coordinates: read.at } }]
  return read.polygons.map((coordinates) => ({ name: null, geometry: { type: 'Polygon', coordinates } }))
}

function requireDegrees(value: unknown): void {
  if (!Array.isArray(value)) throw new AreaProblem('The coordinates must be [longitude, latitude].')
  if (typeof value[0] !== 'number') return void value.forEach(requireDegrees)
  const [x, y] = value as number[]
  if (!(Math.abs(x!) <= 180 && Math.abs(y ?? 91) <= 90))
    throw new AreaProblem('Coordinates must be longitude and latitude in degrees (EPSG:4326).')
}
