/** GeoJSON (RFC 7946), in longitude and latitude. Compatible with the types of other libraries. */

/** Longitude, latitude, and optionally height. */
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
  /** The outer ring, then holes; the first and last positions of each ring are equal. */
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
