/**
 * An item and a way of showing it become pixels here, for whoever has found that they may be seen: the item's own
 * operations, a collection's layer, a share link.
 */
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
import { imageFormat, type Picture } from '#wire/tile.ts'

/** How somebody asks for an item to be shown, in the words of a tile address. */
export interface LookRequest {
  profile?: string | null | undefined
  asset_key?: string | null | undefined
  bands?: string | null | undefined
  expression?: string | null | undefined
  colormap?: string | null | undefined
  rescale?: string | null | undefined
  /** The version of a saved profile that an address was made for. */
  v?: number | null | undefined
}

/** As a client asks for it that must name one. */
export const DEFAULT_PROFILE = 'default'

const isDirect = ({ bands, expression }: LookRequest): boolean => bands != null || expression != null
const isNamed = ({ profile }: LookRequest): boolean => profile != null && profile !== DEFAULT_PROFILE
/** The id of a derived visualization: what is no saved profile's id. */
const slugOf = (request: LookRequest): string | null => (isNamed(request) && !isUuid(request.profile!) ? request.profile! : null)

/** What of it the database must be asked for. */
export function choiceOf(request: LookRequest): Choice {
  if (request.profile != null && isDirect(request)) throw invalidField('profile', 'give a profile, or bands or an expression, not both')
  const profile = isDirect(request) || slugOf(request) !== null ? null : isNamed(request) ? request.profile! : 'default'
  return { assetKey: request.asset_key ?? null, profile, version: request.v ?? null }
}

type Drawing = Pick<Context, 'raster'> & { readonly signal?: AbortSignal | undefined }

/** An item's raster with its colours decided. */
export interface ResolvedLook {
  layer: Layer
  source: ReturnType<typeof rasterSourceOf>
  info: RasterInfo
  names: BandNames
  style: Style
  resampling: Resampling | undefined
}

/** Reads the raster's header and decides the colours; what cannot be shown is refused here, before a pixel is read. */
export async function resolveLook({ raster, signal }: Drawing, layer: Layer, request: LookRequest): Promise<ResolvedLook> {
  const source = rasterSourceOf(layer.asset)
  const info = await raster.describe(source, signal)
  const { names, style, resampling } = remembered(info, layer, request)
  return { layer, source, info, names, style, resampling }
}

type Colours = Pick<ResolvedLook, 'names' | 'style' | 'resampling'>

const MAX_REMEMBERED = 200
/**
 * A pure function's answers, a few hundred for each raster whose header is in memory, and gone with it: nothing that could be
 * stale or shared by mistake.
 */
const colours = new WeakMap<RasterInfo, Map<string, Colours>>()

/** The same answer for every tile of a map, so it is found once for each raster and request. */
function remembered(info: RasterInfo, { asset, profile }: Layer, request: LookRequest): Colours {
  let known = colours.get(info)
  if (!known) colours.set(info, (known = new Map()))
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
  let found = known.get(key)
  if (!found) {
    const names = bandNames(info, asset.bandNames)
    found = { names, ...coloursOf(info, names, asset.bandNames, profile, request) }
    if (known.size >= MAX_REMEMBERED) known.clear()
    known.set(key, found)
  }
  return found
}

function coloursOf(
  info: RasterInfo,
  names: BandNames,
  given: readonly string[] | null,
  profile: Profile | null,
  request: LookRequest,
): Omit<Colours, 'names'> {
  const { bands, expression, colormap, rescale } = request
  if (isDirect(request)) return { style: parseStyle({ bands, expression, colormap, rescale }, info, names), resampling: undefined }
  const visualization = slugOf(request)
  if (visualization !== null)
    return { style: recoloured(parseStyle({ visualization, rescale }, info, names), colormap), resampling: undefined }
  const { type, config } = profile ?? defaultProfile(info, given)
  const look = { type, config: { ...config, ...(rescale == null ? {} : { rescale }), ...(colormap == null ? {} : { colormap }) } }
  return { style: styleOfProfile(look, info, names), resampling: config.resampling }
}

function recoloured(style: Style, colormap: string | null | undefined): Style {
  if (colormap == null) return style
  if (style.kind === 'rgb') throw invalidField('colormap', 'has no meaning for three bands')
  return { ...style, colormap }
}

export interface TileRequest {
  z: number
  x: number
  y: number
  format: 'png' | 'webp' | 'jpg' | 'jpeg'
  quality?: number | undefined
  tile_size?: 256 | 512 | null | undefined
  /** Another one than the well-known. */
  grid?: { left: number; top: number; pixel_m: number } | null | undefined
}

/** One tile of a resolved item, or only its tag where the caller has it already. Tiles are counted for the item's organization. */
export async function drawTile(
  { raster, usage, ifNoneMatch, signal }: Drawing & Pick<Context, 'ifNoneMatch' | 'usage'>,
  { layer, source, style, resampling }: ResolvedLook,
  request: TileRequest,
): Promise<Picture> {
  const { z, x, y, format, quality, tile_size: size, grid } = request
  const tile = { z, x, y, ...(grid ? { grid: { left: grid.left, top: grid.top, pixelM: grid.pixel_m } } : {}) }
  const picture = await raster.tile(
    source,
    { tile, format: imageFormat(format), quality, style, size: size ?? undefined, resampling },
    { ifNoneMatch, signal },
  )
  if (picture.body) usage.record(layer.item.organizationId, 'tiles')
  usage.touch(layer.item.seq)
  return picture
}
