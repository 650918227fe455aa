import Type from 'typebox'
import { invalidField } from '#core/problem.ts'
import { requireArea, type AreaGeometry } from '#core/geometry.ts'
import { Choice, Nullable } from '#core/shapes.ts'

export const CogUrl = Type.String({
  minLength: 1,
  maxLength: 2_048,
  description: 'URL of a Cloud-Optimized GeoTIFF on an allowed host',
})
export const Resampling = Choice(['nearest', 'bilinear', 'cubic', 'average'])
/** A GeoJSON geometry as text, so that it fits into a URL. */
export const AoiText = Type.Optional(
  Nullable(Type.String({ maxLength: 100_000, description: 'Area to render, as GeoJSON Polygon or MultiPolygon text' })),
)

export function parseAoi(text: string | null | undefined): AreaGeometry | undefined {
  if (text == null) return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw invalidField('aoi', 'must be GeoJSON text')
  }
  return requireArea(value, 'aoi')
}

/** The image at a URL never changes, so caches can keep it for a year; another file has another ETag. */
export const FOREVER = 'public, max-age=31536000, immutable'

/** A file as records name it: the query of a signed URL is a secret. */
export const withoutQuery = (url: string): string => url.replace(/[?#].*$/s, '').slice(0, 500)
