import Type from 'typebox'
import { invalidField } from '#core/problem.ts'
import { Closed, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { parseStyle } from '#raster/render/request.ts'
import {
  Format,
  IMAGE_TYPES,
  imageFormat,
  pictureReply,
  Quality,
  requireTile,
  Rescale,
  Text,
  TileIndex,
  TileSize,
  Zoom,
} from '#wire/tile.ts'
import { AoiText, CogUrl, FOREVER, parseAoi, Resampling } from './wire.ts'

/** One Web Mercator tile of a COG, coloured by bands, by an expression, or as the image itself suggests. */
export default operation({
  id: 'cog.tile.render',
  scope: 'tiles:read',
  tier: 'read',
  raw: 'bytes',
  mediaTypes: IMAGE_TYPES,
  input: Closed({
    url: Type.Optional(CogUrl),
    source: Type.Optional(CogUrl),
    z: Zoom,
    x: TileIndex,
    y: TileIndex,
    format: Format,
    bands: Text,
    expression: Text,
    visualization: Text,
    rescale: Rescale,
    colormap: Text,
    quality: Quality(85),
    aoi: AoiText,
    tile_size: TileSize,
    resampling: Type.Optional(Nullable(Resampling)),
  }),
  output: Type.Any(),
  example: { input: { url: 'https://data.example/scene.tif', z: 12, x: 3767, y: 2445, format: 'webp', bands: '3,2,1' } },
}).handle({
  async check({ raster, signal }, input) {
    const url = input.url ?? input.source
    if (url === undefined || (input.url !== undefined && input.source !== undefined))
      throw invalidField('url', 'give the address of one COG')
    requireTile(input)
    const aoi = parseAoi(input.aoi)
    return { url, aoi, style: parseStyle(input, await raster.describe({ url }, signal)) }
  },
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
    return pictureReply(await raster.tile({ url }, request, { ifNoneMatch, signal }), FOREVER)
  },
})
