/** The parts of a named map that its own operations and share links have in common. */
import Type from 'typebox'
import { GeoJsonGeometry } from '#core/geojson-shapes.ts'
import { Closed, Described, NotBlank, Nullable, Uuid } from '#core/shapes.ts'

export const MapGroup = Closed(
  {
    id: Described(Uuid, 'Group ID'),
    name: NotBlank(200, { description: 'Display name of the group' }),
    visible: Type.Boolean({ description: 'Whether the layers of the group are shown' }),
  },
  { $id: 'MapGroup', description: 'A group of layers' },
)

const MapCamera = Closed(
  {
    longitude: Type.Number({ minimum: -180, maximum: 180, description: 'Longitude of the centre in degrees' }),
    latitude: Type.Number({ minimum: -90, maximum: 90, description: 'Latitude of the centre in degrees' }),
    zoom: Type.Number({ minimum: 0, maximum: 24, description: 'Zoom level' }),
    bearing: Type.Number({ minimum: -180, maximum: 180, description: 'Direction that is up, in degrees clockwise from north' }),
    pitch: Type.Number({ minimum: 0, maximum: 85, description: 'Tilt in degrees' }),
  },
  { $id: 'MapCamera', description: 'The part of the world that a map shows at first' },
)

export const MapFeature = Closed(
  {
    name: Described(Nullable(Type.String()), 'Name of the shape; null if none'),
    geometry: Described(GeoJsonGeometry, 'Geometry of the shape'),
  },
  { $id: 'MapFeature', description: 'A shape of a vector layer' },
)

const MapAnnotation = Closed(
  {
    id: Described(Uuid, 'Annotation ID'),
    geometry: Described(GeoJsonGeometry, 'Point, line or area'),
    text: Type.String({ description: 'Text of the annotation' }),
    color: Described(Nullable(Type.String()), 'Colour; null for the default'),
  },
  { $id: 'MapAnnotation', description: 'A point, line or area with a text' },
)

/** Fields of a map as it is returned. */
export const MAP_FIELDS = {
  groups: Type.Array(MapGroup, { description: 'Groups of layers' }),
  camera: Described(Nullable(MapCamera), 'The part of the world that is shown at first; null for all layers'),
  annotations: Type.Array(MapAnnotation, { description: 'Points, lines and areas with a text' }),
}
