import Type from 'typebox'
import { Closed, Defaulted, Described } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { renderLayerTile } from '#services/rendering/styled-layer.ts'
import { Format, IMAGE_TYPES, styleFields, imageReply, requireTile, TileIndex, TileSize, Zoom } from '#wire/tile.ts'
import { requireSharedLayer } from './shared-layer.lib.ts'
import { EXAMPLE_PASSWORD, EXAMPLE_TOKEN, Password, Token } from './wire.ts'

/** Not cached, because a link can be revoked at any time. */
const CACHE_CONTROL = 'private, no-store'

/** Renders a Web Mercator tile of a shared item in one of its visualizations. */
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
    profile: styleFields.profile,
    tile_size: Described(TileSize, 'Tile width and height in pixels: 256, or 512 for high-density screens'),
  }),
  output: Type.Any(),
  example: { input: { token: EXAMPLE_TOKEN, password: EXAMPLE_PASSWORD, z: 12, x: 3767, y: 2445, format: 'webp', profile: 'ndvi' } },
}).handle({
  async check(context, input) {
    requireTile(input)
    return await requireSharedLayer(context, input)
  },
  auditSubject: (_input, { share }) => share.link.id,
  async execute(context, { z, x, y, format, tile_size }, { share, styled }) {
    context.attributeTo(share.link.organizationId)
    return imageReply(await renderLayerTile(context, styled, { z, x, y, format, tile_size }), CACHE_CONTROL)
  },
})
