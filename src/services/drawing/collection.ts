/** A collection's items as one layer: the newest on top, the others where it has nothing to show. */
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
import { choiceOf, resolveLook, type ResolvedLook, type LookRequest, type TileRequest } from './look.ts'
import { imageFormat, type Picture } from '#wire/tile.ts'

/** Items have profiles of their own; what is asked of all of them at once can only be a derived one. */
export function requireShared(request: LookRequest): void {
  if (request.profile != null && isUuid(request.profile))
    throw invalidField('profile', 'is a saved profile of one item; for a collection name a derived one, such as rgb or ndvi, or none')
}

type Drawing = Pick<Context, 'db' | 'raster' | 'usage' | 'ifNoneMatch' | 'signal'>

export async function drawCollectionTile(context: Drawing, collection: Collection, request: LookRequest & TileRequest): Promise<Picture> {
  const { z, x, y, format, quality, tile_size: size } = request
  const seqs = await collectionLayers.itemsUnder(context.db, collection, boxOf(request))
  const found = await itemLayers.findMany(context.db, seqs, choiceOf(request))
  const resolved = await resolveAll(context, found, request)
  const layers = resolved.map(({ source, style, resampling }) => ({ source, style, resampling }))
  const picture = await context.raster.mosaic(
    layers,
    { tile: { z, x, y }, format: imageFormat(format), quality, size: size ?? undefined },
    { ifNoneMatch: context.ifNoneMatch, signal: context.signal },
  )
  if (picture.body) context.usage.record(collection.organizationId, 'tiles')
  for (const { layer } of resolved) context.usage.touch(layer.item.seq)
  return picture
}

/** Headers that one tile reads at a time: a map asks for many tiles, and others wait for the same processes. */
const AT_ONCE = 4

/**
 * Those that can be shown this way. Bands differ between items: one that lacks a band is left out, and if none is left its
 * reason is told.
 */
async function resolveAll(
  context: Pick<Context, 'raster' | 'signal'>,
  layers: readonly itemLayers.Layer[],
  request: LookRequest,
): Promise<ResolvedLook[]> {
  const settled: PromiseSettledResult<ResolvedLook>[] = []
  for (let first = 0; first < layers.length; first += AT_ONCE)
    settled.push(...(await Promise.allSettled(layers.slice(first, first + AT_ONCE).map((layer) => resolveLook(context, layer, request)))))
  const failures = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []))
  const passing = failures.find((reason) => !(reason instanceof RasterError && UNREADABLE.includes(reason.code)))
  const resolved = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  if (passing !== undefined || (resolved.length === 0 && failures.length > 0)) throw passing ?? failures[0]
  return resolved
}

/** Part of a tile's side: footprints are drawn by people and end where the last pixel may just begin. */
const MARGIN = 2 / 256

/** Longitudes and latitudes of a tile. */
function boxOf({ z, x, y }: { z: number; x: number; y: number }): Bbox {
  const side = WORLD_M / 2 ** z
  const [west, south] = fromMercator((x - MARGIN) * side - HALF_WORLD_M, HALF_WORLD_M - (y + 1 + MARGIN) * side)
  const [east, north] = fromMercator((x + 1 + MARGIN) * side - HALF_WORLD_M, HALF_WORLD_M - (y - MARGIN) * side)
  return [Math.max(-180, west), Math.max(-90, south), Math.min(180, east), Math.min(90, north)]
}

const NOWHERE: Coverage = { bounds: [-180, -MAX_LATITUDE, 180, MAX_LATITUDE], center: [0, 0, 0], minZoom: 0, maxZoom: 24 }

/**
 * Where a collection lies, the finest zoom of its newest items, and the lowest zoom at which no tile has more places in it
 * than it may have items.
 */
export async function collectionCoverage(context: Pick<Context, 'db' | 'raster' | 'signal'>, collection: Collection): Promise<Coverage> {
  const { boxes, newest } = await collectionLayers.spreadOf(context.db, collection.id)
  if (boxes.length === 0) return NOWHERE
  const resolved = await resolveAll(context, await itemLayers.findMany(context.db, newest, { assetKey: null, profile: null }), {})
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

/** The most places in any tile of a zoom. Scenes of one place, taken again and again, count as one: the newest covers the others. */
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
