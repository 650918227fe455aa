import Type from 'typebox'
import { requireArea, type AreaGeometry } from '#core/geometry.ts'
import { GeoJsonArea } from '#core/geojson-shapes.ts'
import { invalidField } from '#core/problem.ts'
import { Closed, Described, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { parseStyle } from '#raster/render/request.ts'
import { parseRanges, type Style } from '#raster/render/style.ts'
import type { RasterInfo } from '#raster/types.ts'
import { Format, IMAGE_TYPES, imageFormat, imageReply, requireTile, Rescale, Text, TileIndex, TileSize, Zoom } from '#wire/tile.ts'
import { openScene, requirePublic } from './public.lib.ts'
import { SceneId } from './wire.ts'

/** A scene never changes under its ID. */
const FOREVER = 'public, max-age=31536000, immutable'
/** Surface reflectance of bright land; the same for all scenes, so that adjacent scenes match. */
const REFLECTANCE_RESCALE = '0,3000'
/** From those samples to physical values. */
const REFLECTANCE_SCALE = 0.0001

/** One tile of public imagery, without authentication. */
export default operation({
  id: 'catalog.tile.render',
  scope: 'tiles:read',
  tier: 'read',
  public: true,
  raw: 'bytes',
  mediaTypes: IMAGE_TYPES,
  input: Closed({
    collection: Type.String({ minLength: 1, maxLength: 300, description: 'Collection or provider name of the scene' }),
    scene_id: SceneId,
    visualization: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'Visualization, such as `rgb` or `ndvi`' })),
    z: Described(Zoom, 'Zoom level, 0 to 24'),
    x: Described(TileIndex, 'Tile column, counted from the west'),
    y: Described(TileIndex, 'Tile row, counted from the north'),
    format: Described(Format, 'Image format'),
    provider: Type.Optional(
      Nullable(Type.String({ maxLength: 200, description: 'Provider name, if several providers have a collection of this name' })),
    ),
    quality: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 100, description: 'Quality of lossy formats, 1 to 100' }))),
    tile_size: Described(TileSize, 'Tile width and height in pixels: 256, or 512 for high-density screens'),
    aoi_clip: Type.Optional(
      Nullable(Type.String({ maxLength: 100_000, description: 'Area to render, as GeoJSON Polygon or MultiPolygon text' })),
    ),
    aoi_clip_body: Type.Optional(Nullable(Described(GeoJsonArea, 'Area to render, as a GeoJSON object'))),
    expression: Described(Text, 'Band math expression, for example `(b4-b3)/(b4+b3)`'),
    colormap: Described(Text, 'Colormap name from `cog.colormaps`'),
    rescale: Rescale,
  }),
  output: Type.Any(),
  example: {
    input: {
      collection: 'landsat',
      scene_id: 'sandbox-landsat_20260228_r45c253',
      visualization: 'rgb',
      z: 10,
      x: 941,
      y: 614,
      format: 'webp',
    },
  },
}).handle({
  async check(context, input) {
    requireTile(input)
    const aoi = aoiOf(input)
    const { info, source, names } = await openScene(context, requirePublic(context.vendors, input), input.scene_id)
    const { expression, colormap, rescale } = input
    const visualization = expression == null ? (input.visualization ?? null) : null
    const style = parseStyle({ expression, colormap, visualization: requireNoColormap(visualization, colormap), rescale }, info, names)
    return { source, aoi, style: withRanges(style, info) }
  },
  auditSubject: ({ scene_id }) => scene_id,
  async execute({ raster, ifNoneMatch, signal }, { z, x, y, format, quality, tile_size }, { source, aoi, style }) {
    const request = {
      tile: { z, x, y },
      format: imageFormat(format),
      quality: quality ?? undefined,
      size: tile_size ?? undefined,
      style,
      aoi,
    }
    return imageReply(await raster.tile(source, request, { ifNoneMatch, signal }), FOREVER)
  },
})

/** A colormap is for a custom expression; a named visualization has its own. */
function requireNoColormap(visualization: string | null, colormap: string | null | undefined): string | null {
  if (visualization !== null && colormap != null) throw invalidField('colormap', 'can only be used with `expression`')
  return visualization
}

/** Reflectance composites use the same range in all scenes; everything else uses the range of the scene. */
function withRanges(style: Style, { dataType, isScaled }: RasterInfo): Style {
  if (style.kind !== 'rgb' || style.ranges || dataType !== 'uint16') return style
  const factor = isScaled ? REFLECTANCE_SCALE : 1
  return { ...style, ranges: parseRanges(REFLECTANCE_RESCALE).map(([low, high]) => [low * factor, high * factor]) }
}

function aoiOf({ aoi_clip, aoi_clip_body }: { aoi_clip?: string | null; aoi_clip_body?: object | null }): AreaGeometry | undefined {
  if (aoi_clip != null && aoi_clip_body != null) throw invalidField('aoi_clip', 'Send aoi_clip or aoi_clip_body, not both')
  if (aoi_clip_body != null) return requireArea(aoi_clip_body, 'aoi_clip_body')
  if (aoi_clip == null) return undefined
  try {
    return requireArea(JSON.parse(aoi_clip), 'aoi_clip')
  } catch (error) {
    if (error instanceof SyntaxError) throw invalidField('aoi_clip', 'must be GeoJSON text')
    throw error
  }
}
