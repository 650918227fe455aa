import Type from 'typebox'
import { Closed, Defaulted, Described, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { renderCollectionTile } from '#services/rendering/collection.ts'
import { renderLayerTile } from '#services/rendering/styled-layer.ts'
import { Format, IMAGE_TYPES, styleFields, imageReply, requireTile, TileIndex, TileSize, Zoom } from '#wire/tile.ts'
import { cacheControlOf, versionOf } from './public.lib.ts'
import { requireSharedLayer } from './shared-layer.lib.ts'
import { EXAMPLE_PASSWORD, EXAMPLE_TOKEN, Password, Token } from './wire.ts'

/**
 * Renders a Web Mercator tile of a shared item in one of its visualizations, of the collection of a public link, or of a layer of a shared
 * map.
 */
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
    version: Type.Optional(
      Nullable(
        Type.String({ maxLength: 100, description: 'Version from the TileJSON of a public link, or `latest`; lets caches keep the tile' }),
      ),
    ),
  }),
  output: Type.Any(),
  example: { input: { token: EXAMPLE_TOKEN, password: EXAMPLE_PASSWORD, z: 12, x: 3767, y: 2445, format: 'webp', profile: 'ndvi' } },
}).handle({
  async check(context, input) {
    requireTile(input)
    return await requireSharedLayer(context, input)
  },
  auditSubject: (_input, { share }) => share.link.id,
  async execute(context, { version = null, ...tile }, { share, versioned, style, shown }) {
    const { link } = share
    context.attributeTo(link.organizationId)
    const place = { z: tile.z, x: tile.x, y: tile.y, format: tile.format, tile_size: tile.tile_size }
    const current = async () =>
      link.isPublic && version !== null ? await context.shares.limit(() => versionOf(context, { versioned, style })) : null
    const before = await current()
    const image =
      'styled' in shown
        ? await renderLayerTile(context, shown.styled, place)
        : await renderCollectionTile(context, shown.collection, { ...shown.request, ...place })
    // What changed meanwhile may be in the tile or not, so it has no version.
    const after = await current()
    return imageReply(image, cacheControlOf(context, link, { version, current: before === after ? after : null }))
  },
})
