/** GeoJSON (RFC 7946), in longitude and latitude. Objects of other libraries' types fit. */

/** Longitude, latitude, and height where there is one. */
export type Position = number[]

export interface Point {
  type: 'Point'
  coordinates: Position
}
export interface MultiPoint {
  type: 'MultiPoint'
  coordinates: Position[]
}
export interface LineString {
  type: 'LineString'
  coordinates: Position[]
}
export interface MultiLineString {
  type: 'MultiLineString'
  coordinates: Position[][]
}
export interface Polygon {
  type: 'Polygon'
  /** The outer ring, then holes; the first position of each is also its last. */
  coordinates: Position[][]
}
export interface MultiPolygon {
  type: 'MultiPolygon'
  coordinates: Position[][][]
}
export interface GeometryCollection {
  type: 'GeometryCollection'
  geometries: Geometry[]
}
export type Geometry = Point | MultiPoint | LineString | MultiLineString | Polygon | MultiPolygon | GeometryCollection
