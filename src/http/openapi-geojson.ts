/** GeoJSON (RFC 7946) as shared schemas of the published contract. */

type Json = Record<string, unknown>

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const list = (items: Json, description: string) => ({ type: 'array', items, description })
const POSITION = { type: 'array', items: { type: 'number' }, minItems: 2, maxItems: 3 }
const LINE = { type: 'array', items: POSITION }
const RINGS = { type: 'array', items: LINE }

const geometry = (type: string, coordinates: Json): Json => ({
  type: 'object',
  description: `GeoJSON ${type}`,
  required: ['type', 'coordinates'],
  properties: { type: { type: 'string', const: type, description: `GeoJSON type, always \`${type}\`` }, coordinates },
})

const GEOMETRIES = {
  Point: geometry('Point', { ...POSITION, description: 'Longitude, latitude and optional height' }),
  MultiPoint: geometry('MultiPoint', list(POSITION, 'Positions of the points')),
  LineString: geometry('LineString', list(POSITION, 'Positions along the line')),
  MultiLineString: geometry('MultiLineString', list(LINE, 'Lines, each an array of positions')),
  Polygon: geometry('Polygon', list(LINE, 'Exterior ring, then holes; the first and last position of a ring are equal')),
  MultiPolygon: geometry('MultiPolygon', list(RINGS, 'Polygons, each an array of rings')),
  GeometryCollection: {
    type: 'object',
    description: 'GeoJSON GeometryCollection',
    required: ['type', 'geometries'],
    properties: {
      type: { type: 'string', const: 'GeometryCollection', description: 'GeoJSON type, always `GeometryCollection`' },
      geometries: list(ref('Geometry'), 'Geometries of the collection'),
    },
  },
}

export const GEOJSON_SCHEMAS: Readonly<Record<string, Json>> = {
  ...GEOMETRIES,
  Geometry: { description: 'GeoJSON geometry in WGS84 longitude and latitude', anyOf: Object.keys(GEOMETRIES).map(ref) },
  AreaGeometry: {
    description: 'GeoJSON Polygon or MultiPolygon in WGS84 longitude and latitude',
    anyOf: [ref('Polygon'), ref('MultiPolygon')],
  },
  Feature: {
    type: 'object',
    description: 'GeoJSON feature',
    required: ['type', 'geometry'],
    properties: {
      type: { type: 'string', const: 'Feature', description: 'GeoJSON type, always `Feature`' },
      id: { anyOf: [{ type: 'string' }, { type: 'number' }], description: 'Feature ID' },
      geometry: { anyOf: [ref('Geometry'), { type: 'null' }], description: 'Geometry of the feature; null if it has none' },
      properties: {
        anyOf: [{ type: 'object', additionalProperties: true }, { type: 'null' }],
        description: 'Properties of the feature; null if it has none',
      },
    },
    additionalProperties: true,
  },
  FeatureCollection: {
    type: 'object',
    description: 'GeoJSON feature collection',
    required: ['type', 'features'],
    properties: {
      type: { type: 'string', const: 'FeatureCollection', description: 'GeoJSON type, always `FeatureCollection`' },
      features: list(ref('Feature'), 'Features of the collection'),
    },
    additionalProperties: true,
  },
}
