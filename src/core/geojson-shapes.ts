/** GeoJSON in inputs and outputs. What takes one checks it in full and says what is wrong; the schema only asks for an object. */
import Type from 'typebox'
import { FreeForm } from './shapes.ts'

/** The published contract refers to the shared schema of this name instead. */
const documentedAs = (name: string) => Type.Unsafe<Record<string, unknown>>({ ...FreeForm, 'x-documented-as': name })

export const GeoJsonGeometry = documentedAs('Geometry')
export const GeoJsonPolygon = documentedAs('Polygon')
/** Polygon or MultiPolygon. */
export const GeoJsonArea = documentedAs('AreaGeometry')
export const GeoJsonFeatureCollection = documentedAs('FeatureCollection')
