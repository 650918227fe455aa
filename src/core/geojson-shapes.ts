/** GeoJSON in inputs and outputs. The schema only requires an object; the operation validates it fully and explains errors. */
import Type from 'typebox'
import { FreeForm } from './shapes.ts'

/** The OpenAPI document refers to the shared schema of this name instead. */
const documentedAs = (name: string) => Type.Unsafe<Record<string, unknown>>({ ...FreeForm, 'x-documented-as': name })

export const GeoJsonGeometry = documentedAs('Geometry')
export const GeoJsonPolygon = documentedAs('Polygon')
/** Polygon or MultiPolygon. */
export const GeoJsonArea = documentedAs('AreaGeometry')
export const GeoJsonFeatureCollection = documentedAs('FeatureCollection')
