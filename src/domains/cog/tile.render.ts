import Type from 'typebox'
import { invalidField } from '#core/problem.ts'
import { Closed, Described, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { parseStyle } from '#raster/render/request.ts'
import { Format, IMAGE_TYPES, imageFormat, imageReply, Quality, requireTile, Rescale, Text, TileIndex, TileSize, Zoom } from '#wire/tile.ts'
import { AoiText, CogUrl, FOREVER, parseAoi, Resampling, withoutQuery } from './wire.ts'

/** One Web Mercator tile of a COG, styled by bands or an expression, or in the default style of the image. */
export default operation({
  id: 'cog.tile.render',
  scope: 'tiles:read',
  tier: 'read',
  raw: 'bytes',
  mediaTypes: IMAGE_TYPES,
  input: Closed({
    url: Type.Optional(CogUrl),
    source: Type.Optional(CogUrl),
    z: Described(Zoom, 'Zoom level, 0 to 24'),
    x: Described(TileIndex, 'Tile column, counted from the west'),
    y: Described(TileIndex, 'Tile row, counted from the north'),
    format: Described(Format, 'Image format'),
    bands: Described(Text, '1-based band numbers, separated by commas'),
    expression: Described(Text, 'Band math expression, for example `(b4-b3)/(b4+b3)`'),
    visualization: Described(Text, 'Derived visualization such as `ndvi`, for files with band names'),
    rescale: Rescale,
    colormap: Described(Text, 'Colormap name from `cog.colormaps`'),
    quality: Described(Quality(85), 'Quality of lossy formats, 1 to 100'),
    aoi: AoiText,
    tile_size: Described(TileSize, 'Tile width and height in pixels: 256, or 512 for high-density screens'),
    resampling: Described(Type.Optional(Nullable(Resampling)), 'Resampling method'),
  }),
  output: Type.Any(),
  example: { input: { url: 'https://data.example/scene.tif', z: 12, x: 3767, y: 2445, format: 'webp', bands: '3,2,1' } },
}).handle({
  async check({ raster, signal }, input) {
    const url = input.url ?? input.source
    if (url === undefined || (input.url !== undefined && input.source !== undefined))
      throw invalidField('url', 'Send exactly one of url and source')
    requireTile(input)
    const aoi = parseAoi(input.aoi)
    return { url, aoi, style: parseStyle(input, await raster.describe({ url }, signal)) }
  },
  auditSubject: (_input, { url }) => withoutQuery(url),
  async execute({ raster, ifNoneMatch, signal }, { z, x, y, format, quality, tile_size, resampling }, { url, aoi, style }) {
    const request = {
      tile: { z, x, y },
      format: imageFormat(format),
      quality,
      style,
      aoi,
      size: tile_size ?? undefined,
      resampling: resampling ?? undefined,
    }
    return imageReply(await raster.tile({ url }, request, { ifNoneMatch, signal }), FOREVER)
  },
})
