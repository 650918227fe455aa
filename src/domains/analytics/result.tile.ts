import Type from 'typebox'
import { Closed, Uuid } from '#core/shapes.ts'
import * as keptFile from '#model/plans/kept-file.ts'
import { operation } from '#operation.ts'
import { FormatOrWebp, IMAGE_TYPES, imageFormat, pictureReply, Quality, requireTile, TileIndex, TileSize, Zoom } from '#wire/tile.ts'
import { styleOf } from './report.lib.ts'
import { EXAMPLE_REPORT_ID } from './wire.ts'

const MAX_AGE_SECONDS = 86_400

/** One Web Mercator tile of a raster that a method computed, such as the difference of `change_detection`, until it expires. */
export default operation({
  id: 'analytics.result.tile',
  scope: 'analytics:read',
  tier: 'read',
  raw: 'bytes',
  mediaTypes: IMAGE_TYPES,
  input: Closed({
    result_id: Type.With(Uuid, { description: 'The id in the `tile_template` of the result' }),
    z: Zoom,
    x: TileIndex,
    y: TileIndex,
    format: FormatOrWebp,
    quality: Quality(82),
    tile_size: TileSize,
  }),
  output: Type.Any(),
  example: { input: { result_id: EXAMPLE_REPORT_ID, z: 12, x: 3712, y: 2263, format: 'webp' } },
}).handle({
  async check({ db, principal, clock }, input) {
    requireTile(input)
    return await keptFile.requireRaster(db, principal, input.result_id, clock.now())
  },
  async execute({ raster, usage, clock, ifNoneMatch, signal }, { z, x, y, format, quality, tile_size }, file) {
    const picture = await raster.tile(
      { object: { bucket: file.bucket, key: file.objectKey } },
      { tile: { z, x, y }, format: imageFormat(format), quality, style: styleOf(file.look), size: tile_size ?? undefined },
      { ifNoneMatch, signal },
    )
    if (picture.body) usage.record(file.organizationId, 'tiles')
    const secondsLeft = Math.floor((file.expiresAt.getTime() - clock.now().getTime()) / 1_000)
    return pictureReply(picture, `private, max-age=${Math.min(MAX_AGE_SECONDS, secondsLeft)}`)
  },
})
