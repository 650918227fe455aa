/** Renders the items of a collection as one layer: the newest is on top, older ones fill its gaps. */
import { isUuid } from '#core/ids.ts'
import { invalidField } from '#core/problem.ts'
import type { Collection } from '#model/imagery/collection.ts'
import * as collectionLayers from '#model/imagery/collection-layer.ts'
import type { Bbox } from '#model/imagery/footprint.ts'
import * as itemLayers from '#model/imagery/item-layer.ts'
import type { Context } from '#operation.ts'
import { UNREADABLE } from '#raster/errors.ts'
import { RasterError } from '#raster/types.ts'
import { coverageOf, type Coverage } from '#raster/warp/coverage.ts'
import { fromMercator, HALF_WORLD_M, MAX_LATITUDE, toMercator, WORLD_M } from '#raster/warp/mercator.ts'
import { choiceOf, styleLayer, type StyledLayer, type LayerRequest, type TileRequest } from './styled-layer.ts'
import { imageFormat, type ImageResponse } from '#wire/tile.ts'

/** A saved profile belongs to one item, so only a derived profile applies to a whole collection. */
export function rejectSavedProfile(request: LayerRequest): void {
  if (request.profile != null && isUuid(request.profile))
    throw invalidField('profile', 'must be a derived profile, such as rgb or ndvi; a saved profile belongs to one item')
}

type RenderingContext = Pick<Context, 'db' | 'searchMemory' | 'raster' | 'usage' | 'ifNoneMatch' | 'signal'>

export async function renderCollectionTile(
  context: RenderingContext,
  collection: Collection,
  request: LayerRequest & TileRequest,
): Promise<ImageResponse> {
  const { z, x, y, format, quality, tile_size: size } = request
  const seqs = await collectionLayers.itemsUnder(context.db, context.searchMemory, collection, boxOf(request))
  const itemsInTile = await itemLayers.findMany(context.db, seqs, choiceOf(request))
  const resolved = await styleLayers(context, itemsInTile, request)
  const layers = resolved.map(({ source, style, resampling }) => ({ source, style, resampling }))
  const image = await context.raster.mosaic(
    layers,
    { tile: { z, x, y }, format: imageFormat(format), quality, size: size ?? undefined },
    { ifNoneMatch: context.ifNoneMatch, signal: context.signal },
  )
  if (image.body) context.usage.record(collection.organizationId, 'tiles')
  for (const { layer } of resolved) context.usage.touch(layer.item.seq)
  return image
}

/** Headers that one tile reads concurrently: a map requests many tiles, and other callers share the raster processes. */
const HEADER_CONCURRENCY = 4

/**
 * The layers that the request can style. Bands differ between items: an item that lacks a band is skipped, and if none is
 * left, its error is thrown.
 */
async function styleLayers(
  context: Pick<Context, 'raster' | 'signal'>,
  layers: readonly itemLayers.Layer[],
  request: LayerRequest,
): Promise<StyledLayer[]> {
  const settled: PromiseSettledResult<StyledLayer>[] = []
  for (let first = 0; first < layers.length; first += HEADER_CONCURRENCY)
    settled.push(
      ...(await Promise.allSettled(layers.slice(first, first + HEADER_CONCURRENCY).map((layer) => styleLayer(context, layer, request)))),
    )
  const failures = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []))
  const transient = failures.find((reason) => !(reason instanceof RasterError && UNREADABLE.includes(reason.code)))
  const resolved = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  if (transient !== undefined || (resolved.length === 0 && failures.length > 0)) throw transient ?? failures[0]
  return resolved
}

/** Fraction of a tile's side by which the search box grows: hand-drawn footprints can end a pixel too early. */
const MARGIN = 2 / 256

/** Bounding box of a tile in degrees. */
function boxOf({ z, x, y }: { z: number; x: number; y: number }): Bbox {
  const side = WORLD_M / 2 ** z
  const [west, south] = fromMercator((x - MARGIN) * side - HALF_WORLD_M, HALF_WORLD_M - (y + 1 + MARGIN) * side)
  const [east, north] = fromMercator((x + 1 + MARGIN) * side - HALF_WORLD_M, HALF_WORLD_M - (y - MARGIN) * side)
  return [Math.max(-180, west), Math.max(-90, south), Math.min(180, east), Math.min(90, north)]
}

const EMPTY_COVERAGE: Coverage = { bounds: [-180, -MAX_LATITUDE, 180, MAX_LATITUDE], center: [0, 0, 0], minZoom: 0, maxZoom: 24 }

/**
 * The bounds of a collection, the highest zoom of its newest items, and the lowest zoom at which no tile contains more
 * places than it can render items.
 */
export async function collectionCoverage(context: Pick<Context, 'db' | 'raster' | 'signal'>, collection: Collection): Promise<Coverage> {
  const { boxes, newest } = await collectionLayers.spreadOf(context.db, collection.id)
  if (boxes.length === 0) return EMPTY_COVERAGE
  const resolved = await styleLayers(context, await itemLayers.findMany(context.db, newest, { assetKey: null, profile: null }), {})
  const zooms = resolved.map(({ info }) => coverageOf(info))
  const maxZoom = Math.max(0, ...zooms.map((each) => each.maxZoom))
  const crosses = boxes.some(([west, , east]) => west > east)
  const bounds: Coverage['bounds'] = [
    crosses ? -180 : Math.min(...boxes.map(([west]) => west)),
    Math.max(-MAX_LATITUDE, Math.min(...boxes.map(([, south]) => south))),
    crosses ? 180 : Math.max(...boxes.map(([, , east]) => east)),
    Math.min(MAX_LATITUDE, Math.max(...boxes.map(([, , , north]) => north))),
  ]
  const lowest = Math.min(...zooms.map((each) => each.minZoom), maxZoom)
  const minZoom = Math.max(
    lowest,
    Array.from({ length: maxZoom }, (_, zoom) => zoom).find((zoom) => mostPlaces(boxes, zoom) <= collectionLayers.MAX_ITEMS_PER_TILE) ??
      maxZoom,
  )
  const [left, bottom] = toMercator(bounds[0], bounds[1])
  const [right, top] = toMercator(bounds[2], bounds[3])
  const [longitude, latitude] = fromMercator((left + right) / 2, (bottom + top) / 2)
  const whole = Math.floor(Math.log2(WORLD_M / Math.max(1, right - left, top - bottom)))
  return { bounds, center: [longitude, latitude, Math.min(maxZoom, Math.max(minZoom, whole))], minZoom, maxZoom }
}

/** The most places in any tile of a zoom. Repeated scenes of one place count once, because the newest covers the others. */
function mostPlaces(boxes: readonly Bbox[], zoom: number): number {
  const count = 2 ** zoom
  const tiles = new Map<number, Set<string>>()
  let most = 0
  for (const [west, south, east, north] of boxes) {
    const [left, bottom] = toMercator(west, south)
    const [right, top] = toMercator(west > east ? east + 360 : east, north)
    const [width, height] = [Math.max(1, right - left), Math.max(1, top - bottom)]
    const place = `${Math.round((left + right) / 2 / width)}/${Math.round((bottom + top) / 2 / height)}/${Math.round(Math.log2(width))}`
    const tile = (x: number, y: number) =>
      Math.floor(((x + HALF_WORLD_M) / WORLD_M) * count) + count * Math.floor(((HALF_WORLD_M - y) / WORLD_M) * count)
    const key = tile((left + right) / 2, (bottom + top) / 2)
    const places = tiles.get(key) ?? new Set()
    tiles.set(key, places.add(place))
    most = Math.max(most, places.size)
  }
  return most
}
