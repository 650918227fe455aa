import Type from 'typebox'
import { Closed, Defaulted, Described } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { imageReply, requireTile, TileIndex, Zoom } from '#wire/tile.ts'
import { AoiText, CogUrl, FOREVER, parseAoi, withoutQuery } from './wire.ts'

/** Elevation as a lossless Terrain-RGB tile: elevation = -10000 + (R·65536 + G·256 + B)·0.1. */
export default operation({
  id: 'cog.tile.terrain',
  scope: 'tiles:read',
  tier: 'read',
  raw: 'bytes',
  mediaTypes: ['image/png', 'image/webp'],
  input: Closed({
    url: CogUrl,
    z: Described(Zoom, 'Zoom level, 0 to 24'),
    x: Described(TileIndex, 'Tile column, counted from the west'),
    y: Described(TileIndex, 'Tile row, counted from the north'),
    invert: Defaulted(Type.Boolean(), false, { description: 'Whether to negate values, for depths stored as positive numbers' }),
    aoi: AoiText,
  }),
  output: Type.Any(),
  example: { input: { url: 'https://data.example/dem.tif', z: 10, x: 940, y: 610 } },
}).handle({
  async check(_context, input) {
    requireTile(input)
    return parseAoi(input.aoi)
  },
  auditSubject: ({ url }) => withoutQuery(url),
  async execute({ raster, ifNoneMatch, signal }, { url, z, x, y, invert }, aoi) {
    return imageReply(await raster.terrain({ url }, { tile: { z, x, y }, invert, aoi }, { ifNoneMatch, signal }), FOREVER)
  },
})
