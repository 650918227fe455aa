import Type from 'typebox'
import { Closed, Described, Uuid } from '#core/shapes.ts'
import * as expiringFiles from '#model/plans/expiring-file.ts'
import { operation } from '#operation.ts'
import { FormatOrWebp, IMAGE_TYPES, imageFormat, imageReply, Quality, requireTile, TileIndex, TileSize, Zoom } from '#wire/tile.ts'
import { styleOf } from './report.lib.ts'
import { EXAMPLE_REPORT_ID } from './wire.ts'

const MAX_AGE_SECONDS = 86_400

/** One Web Mercator tile of a raster that a method computed, such as the difference of `change_detection`, until it expires. */
export default operation({
  id: 'analytics.result.tile',
  scope: 'analytics:read',
  tier: 'read',
  readsReplica: true,
  raw: 'bytes',
  mediaTypes: IMAGE_TYPES,
  input: Closed({
    result_id: Described(Uuid, "Result ID from the result's `tile_template`"),
    z: Described(Zoom, 'Zoom level, 0 to 24'),
    x: Described(TileIndex, 'Tile column, counted from the west'),
    y: Described(TileIndex, 'Tile row, counted from the north'),
    format: Described(FormatOrWebp, 'Image format'),
    quality: Described(Quality(82), 'Quality of lossy formats, 1 to 100'),
    tile_size: Described(TileSize, 'Tile width and height in pixels: 256, or 512 for high-density screens'),
  }),
  output: Type.Any(),
  example: { input: { result_id: EXAMPLE_REPORT_ID, z: 12, x: 3712, y: 2263, format: 'webp' } },
}).handle({
  async check({ db, principal, clock }, input) {
    requireTile(input)
    return await expiringFiles.requireRaster(db, principal, input.result_id, clock.now())
  },
  auditSubject: ({ result_id }) => result_id,
  async execute({ raster, usage, clock, ifNoneMatch, signal }, { z, x, y, format, quality, tile_size }, file) {
    const image = await raster.tile(
      { object: { bucket: file.bucket, key: file.objectKey } },
      { tile: { z, x, y }, format: imageFormat(format), quality, style: styleOf(file.style), size: tile_size ?? undefined },
      { ifNoneMatch, signal },
    )
    if (image.body) usage.record(file.organizationId, 'tiles')
    const secondsLeft = Math.floor((file.expiresAt.getTime() - clock.now().getTime()) / 1_000)
    return imageReply(image, `private, max-age=${Math.min(MAX_AGE_SECONDS, secondsLeft)}`)
  },
})
