import Type from 'typebox'
import { Closed, Defaulted, Described } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { drawTile } from '#services/drawing/look.ts'
import { Format, IMAGE_TYPES, lookFields, pictureReply, requireTile, TileIndex, TileSize, Zoom } from '#wire/tile.ts'
import { requireShown } from './shown.lib.ts'
import { EXAMPLE_PASSWORD, EXAMPLE_TOKEN, Password, Token } from './wire.ts'

/** Nobody keeps what may be withdrawn at any time. */
const NOT_KEPT = 'private, no-store'

/** One Web Mercator tile of a shared item, in one of the looks that it is offered in. */
export default operation({
  id: 'share.tile.render',
  scope: 'shares:read',
  tier: 'read',
  raw: 'bytes',
  mediaTypes: IMAGE_TYPES,
  public: true,
  input: Closed({
    token: Token,
    password: Described(Password, 'Password of the share link'),
    z: Described(Zoom, 'Zoom level, 0 to 24'),
    x: Described(TileIndex, 'Tile column, counted from the west'),
    y: Described(TileIndex, 'Tile row, counted from the north'),
    format: Defaulted(Format, 'png', { description: 'Image format' }),
    profile: lookFields.profile,
    tile_size: Described(TileSize, 'Tile width and height in pixels: 256, or 512 for high-density screens'),
  }),
  output: Type.Any(),
  example: { input: { token: EXAMPLE_TOKEN, password: EXAMPLE_PASSWORD, z: 12, x: 3767, y: 2445, format: 'webp', profile: 'ndvi' } },
}).handle({
  async check(context, input) {
    requireTile(input)
    return await requireShown(context, input)
  },
  async execute(context, { z, x, y, format, tile_size }, { share, resolved }) {
    context.attributeTo(share.link.organizationId)
    return pictureReply(await drawTile(context, resolved, { z, x, y, format, tile_size }), NOT_KEPT)
  },
})
