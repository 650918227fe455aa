/**
 * Styles an item's raster and renders its tiles, for callers that have checked access: the operations of items, the layer of
 * a collection, a share link.
 */
import { DEFAULT_STYLE } from '#wire/wmts.ts'
import { LRUCache } from 'lru-cache'
import { isUuid } from '#core/ids.ts'
import { invalidField } from '#core/problem.ts'
import { rasterSourceOf } from '#model/imagery/asset.ts'
import type { Choice, Layer } from '#model/imagery/item-layer.ts'
import type { Context } from '#operation.ts'
import { defaultProfile, styleOfProfile, type Profile } from '#raster/render/profile.ts'
import { bandNames, parseStyle, type BandNames } from '#raster/render/request.ts'
import type { Style } from '#raster/render/style.ts'
import type { RasterInfo } from '#raster/types.ts'
import type { Resampling } from '#raster/warp/sample.ts'
import { outlineStack } from '#raster/stack/info.ts'
import { bandsOfStyle } from '#raster/stack/used.ts'
import type { RasterSource, StackSource } from '#ports/raster.ts'
import { imageFormat, type ImageResponse } from '#wire/tile.ts'

/** How a caller wants an item rendered, with the parameter names of a tile URL. */
export interface LayerRequest {
  profile?: string | null | undefined
  asset_key?: string | null | undefined
  bands?: string | null | undefined
  expression?: string | null | undefined
  colormap?: string | null | undefined
  rescale?: string | null | undefined
  /** Version of the saved profile when the URL was created. */
  v?: number | null | undefined
}

/** Requested by clients that must name a profile. */
export const DEFAULT_PROFILE = DEFAULT_STYLE

const isDirect = ({ bands, expression }: LayerRequest): boolean => bands != null || expression != null
const isNamed = ({ profile }: LayerRequest): boolean => profile != null && profile !== DEFAULT_PROFILE
/** The id of a derived visualization; saved profiles have UUIDs. */
const slugOf = (request: LayerRequest): string | null => (isNamed(request) && !isUuid(request.profile!) ? request.profile! : null)

/** The part of the request that selects rows in the database. */
export function choiceOf(request: LayerRequest): Choice {
  if (request.profile != null && isDirect(request)) throw invalidField('profile', 'cannot be combined with bands or expression')
  const profile = isDirect(request) || slugOf(request) !== null ? null : isNamed(request) ? request.profile! : 'default'
  return { assetKey: request.asset_key ?? null, profile, version: request.v ?? null }
}

type RenderingContext = Pick<Context, 'raster'> & { readonly signal?: AbortSignal | undefined }

/** An item's raster with the style to render it in. */
export interface StyledLayer {
  layer: Layer
  source: RasterSource
  info: RasterInfo
  names: BandNames
  style: Style
  resampling: Resampling | undefined
}

/** Reads the raster's header and resolves the style. An impossible style is rejected here, before any pixel is read. */
export async function styleLayer({ raster, signal }: RenderingContext, layer: Layer, request: LayerRequest): Promise<StyledLayer> {
  const source = rasterSourceOf(layer.asset)
  if ('stack' in source) return await styleStack({ raster, signal }, layer, source, request)
  const info = await raster.describe(source, signal)
  const { names, style, resampling } = cachedStyle(info, layer, request)
  return { layer, source, info, names, style, resampling }
}

/** The style of a stack follows from its band names, so that only the files that it uses are opened. */
async function styleStack(
  { raster, signal }: RenderingContext,
  layer: Layer,
  source: StackSource,
  request: LayerRequest,
): Promise<StyledLayer> {
  const { names, style, resampling } = cachedStyle(cachedOutline(source), layer, request)
  const used = bandsOfStyle(source.stack.length, style)
  const info = await raster.describe(used ? { ...source, used } : source, signal)
  return { layer, source, info, names, style, resampling }
}

const MAX_CACHED_OUTLINES = 500
/** Results of a pure function, by its input: styles are cached with them. */
const outlines = new LRUCache<string, RasterInfo>({ max: MAX_CACHED_OUTLINES })

function cachedOutline({ stack }: StackSource): RasterInfo {
  const key = JSON.stringify(stack)
  const outline = outlines.get(key) ?? outlineStack(stack)
  outlines.set(key, outline)
  return outline
}

type ResolvedStyle = Pick<StyledLayer, 'names' | 'style' | 'resampling'>

const MAX_CACHED_STYLES = 200
/**
 * Caches the results of a pure function for each raster whose header is in memory, and is collected with it. No entry can
 * become stale or leak between organizations.
 */
const styleCache = new WeakMap<RasterInfo, LRUCache<string, ResolvedStyle>>()

/** All tiles of a map have the same style, so it is resolved once for each raster and request. */
function cachedStyle(info: RasterInfo, { asset, profile }: Layer, request: LayerRequest): ResolvedStyle {
  let styles = styleCache.get(info)
  if (!styles) styleCache.set(info, (styles = new LRUCache({ max: MAX_CACHED_STYLES })))
  const key = JSON.stringify([
    asset.bandNames,
    profile?.type,
    profile?.config,
    request.profile,
    request.bands,
    request.expression,
    request.colormap,
    request.rescale,
  ])
  let style = styles.get(key)
  if (!style) {
    const names = bandNames(info, asset.bandNames)
    style = { names, ...resolvedStyle(info, names, asset.bandNames, profile, request) }
    styles.set(key, style)
  }
  return style
}

function resolvedStyle(
  info: RasterInfo,
  names: BandNames,
  given: readonly string[] | null,
  profile: Profile | null,
  request: LayerRequest,
): Omit<ResolvedStyle, 'names'> {
  const { bands, expression, colormap, rescale } = request
  if (isDirect(request)) return { style: parseStyle({ bands, expression, colormap, rescale }, info, names), resampling: undefined }
  const visualization = slugOf(request)
  if (visualization !== null)
    return { style: withColormap(parseStyle({ visualization, rescale }, info, names), colormap), resampling: undefined }
  const { type, config } = profile ?? defaultProfile(info, given)
  const styled = { type, config: { ...config, ...(rescale == null ? {} : { rescale }), ...(colormap == null ? {} : { colormap }) } }
  return { style: styleOfProfile(styled, info, names), resampling: config.resampling }
}

function withColormap(style: Style, colormap: string | null | undefined): Style {
  if (colormap == null) return style
  if (style.kind === 'rgb') throw invalidField('colormap', 'applies to a single band or an expression, not to three bands')
  return { ...style, colormap }
}

export interface TileRequest {
  z: number
  x: number
  y: number
  format: 'png' | 'webp' | 'jpg' | 'jpeg'
  quality?: number | undefined
  tile_size?: 256 | 512 | null | undefined
  /** A tile grid other than Web Mercator's standard one. */
  grid?: { left: number; top: number; pixel_m: number } | null | undefined
}

/** A tile in a format for images, or `bin`: the samples that it would be rendered from. */
type LayerTileRequest = Omit<TileRequest, 'format'> & { format: TileRequest['format'] | 'bin' }

/** Renders one tile, or returns only its ETag if the caller has it already. Tiles count as usage of the item's organization. */
export async function renderLayerTile(
  { raster, usage, ifNoneMatch, signal }: RenderingContext & Pick<Context, 'ifNoneMatch' | 'usage'>,
  { layer, source, style, resampling }: StyledLayer,
  request: LayerTileRequest,
): Promise<ImageResponse> {
  const { z, x, y, format, quality, tile_size: size, grid } = request
  const tile = { z, x, y, ...(grid ? { grid: { left: grid.left, top: grid.top, pixelM: grid.pixel_m } } : {}) }
  const wanted = { tile, style, size: size ?? undefined, resampling }
  const conditional = { ifNoneMatch, signal }
  const image =
    format === 'bin'
      ? await raster.dataTile(source, wanted, conditional)
      : await raster.tile(source, { ...wanted, format: imageFormat(format), quality }, conditional)
  if (image.body) usage.record(layer.item.organizationId, 'tiles')
  usage.touch(layer.item.seq)
  return image
}
