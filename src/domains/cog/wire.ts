import Type from 'typebox'
import { invalidField } from '#core/problem.ts'
import { requireArea, type AreaGeometry } from '#core/geometry.ts'
import { Choice, Nullable } from '#core/shapes.ts'
import type { RawReply } from '#operation.ts'

/** The address of a COG on an allowed host. */
export const CogUrl = Type.String({ minLength: 1, maxLength: 2_048, description: 'Address of a Cloud-Optimized GeoTIFF on an allowed host' })
export const Zoom = Type.Integer({ minimum: 0, maximum: 24 })
export const TileIndex = Type.Integer({ minimum: 0, maximum: 2 ** 24 - 1 })
export const Format = Choice(['png', 'webp', 'jpg', 'jpeg'])
export const Quality = Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 85 }))
export const Resampling = Choice(['nearest', 'bilinear', 'cubic', 'average'])
export const Text = Type.Optional(Nullable(Type.String({ maxLength: 2_048 })))
/** A GeoJSON geometry as text, the way it fits into an address. */
export const AoiText = Type.Optional(Nullable(Type.String({ maxLength: 100_000, description: 'GeoJSON Polygon or MultiPolygon, as text' })))

export const imageFormat = (format: 'png' | 'webp' | 'jpg' | 'jpeg') => (format === 'jpg' ? 'jpeg' : format)

/** Checked here, where the field is known; the raster library would refuse it later and with less to say. */
export function requireTile({ z, x, y }: { z: number; x: number; y: number }): void {
  const count = 2 ** z
  if (x >= count) throw invalidField('x', `must be below ${count} at zoom ${z}`)
  if (y >= count) throw invalidField('y', `must be below ${count} at zoom ${z}`)
}

export function parseAoi(text: string | null | undefined): AreaGeometry | undefined {
  if (text == null) return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw invalidField('aoi', 'must be GeoJSON as text')
  }
  return requireArea(value, 'aoi')
}

/** The picture of an address never changes: another file has another tag, so caches may keep it for a year. */
const FOREVER = 'public, max-age=31536000, immutable'

export function pictureReply({ etag, contentType, body }: { etag: string; contentType: string; body: Buffer | null }, cacheControl = FOREVER): RawReply {
  const headers = { ETag: etag, 'Cache-Control': cacheControl }
  return body ? { contentType, headers, body } : { status: 304, contentType, headers, body: Buffer.alloc(0) }
}
