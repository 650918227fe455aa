/** The rasters that a job is about, found for whoever asks: what they may not read is not there. */
import { sqKmOf } from '#core/area.ts'
import { requireArea, type AreaGeometry, type Position } from '#core/geometry.ts'
import { invalidField, Problem, problem } from '#core/problem.ts'
import * as assets from '#model/imagery/asset.ts'
import * as item from '#model/imagery/item-read.ts'
import type { Context } from '#operation.ts'
import type { RasterInfo } from '#raster/types.ts'
import { applyAffine } from '#raster/warp/affine.ts'
import { projectorToLonLat, type Point } from '#raster/warp/projector.ts'
import type { AnyProcess, OpenSource, Source, SourceWish } from './process.ts'

/** Each is an open file and a look at it before the job begins. */
export const MAX_SOURCES = 500
const LOOKS_AT_ONCE = 4

type Means = Pick<Context, 'db' | 'principal' | 'raster' | 'signal'>

/** 404 and 403 as for every reading of an item; 400 for one of another organization than is named, or whose file cannot be worked on. */
export async function findSources(means: Means, process: AnyProcess, params: unknown, organizationId: string | null): Promise<Source[]> {
  const found: Source[] = []
  for (const wish of process.sources(params)) found.push(...(await findWish(means, wish, organizationId)))
  if (found.length > MAX_SOURCES)
    throw problem('bad-request', `A job works on at most ${MAX_SOURCES} rasters; this one names ${found.length}`)
  return found
}

async function findWish({ db, principal, raster }: Means, wish: SourceWish, organizationId: string | null): Promise<Source[]> {
  if ('url' in wish) {
    if (!raster.mayRead(wish.url)) throw invalidField(wish.field, 'must be an https address on a host that this service reads rasters from')
    return [{ item: null, key: wish.key, bandNames: null, source: { url: wish.url } }]
  }
  const { item: found } = await item.requireReader(db, principal, wish.itemId)
  if (organizationId !== null && found.organizationId !== organizationId)
    throw problem('bad-request', `The item '${found.name}' belongs to another organization; a job works on what its own organization holds`)
  if (found.lifecycleState === 'expired') throw problem('bad-request', `The item '${found.name}' is past its retention`)
  return (await assetsOf({ db }, found, wish)).map((file) => {
    assets.requireReachable(file, raster)
    return { item: found, key: file.key, bandNames: file.bandNames, source: assets.rasterSourceOf(file) }
  })
}

const isRaster = ({ mediaType, roles }: assets.Asset): boolean =>
  (mediaType === null || /^image\/(tiff|vnd\.stac\.geotiff)/.test(mediaType)) &&
  !roles.some((role) => ['provenance', 'metadata', 'overview', 'thumbnail'].includes(role))

async function assetsOf(
  { db }: Pick<Means, 'db'>,
  found: item.Item,
  { assets: wanted, field, keysField }: Extract<SourceWish, { itemId: string }>,
) {
  const all = await assets.list(db, found.seq)
  if (wanted !== 'primary' && wanted !== 'rasters')
    return wanted.map((key) => {
      const named = all.find((file) => file.key === key)
      if (keysField && (!named || !isRaster(named))) throw unresolved(found, key, keysField, all)
      if (!named) throw invalidField(field, `has no asset '${key}'; it has ${all.map((file) => file.key).join(', ') || 'none'}`)
      return named
    })
  const rasters = all.filter(isRaster)
  if (rasters.length === 0) throw problem('bad-request', `The item '${found.name}' has no raster to work on`)
  return wanted === 'rasters'
    ? rasters
    : [rasters.find(({ key }) => key === 'data') ?? rasters.find(({ roles }) => roles.includes('data')) ?? rasters[0]!]
}

function unresolved({ name }: item.Item, key: string, field: string, all: readonly assets.Asset[]): Problem {
  const rasters = all.filter(isRaster).map((file) => file.key)
  const message = `'${key}' is not a raster asset of '${name}'; available: ${rasters.join(', ') || 'none'}`
  return problem('bad-request', `No raster assets resolved: ${field}: ${message}`, { members: { errors: [{ field, message }] } })
}

/** Looks at every raster, so that what cannot work is told before anything is paid. */
export async function openSources({ raster, signal }: Pick<Means, 'raster' | 'signal'>, sources: readonly Source[]): Promise<OpenSource[]> {
  const opened: OpenSource[] = []
  for (let first = 0; first < sources.length; first += LOOKS_AT_ONCE) {
    const some = sources.slice(first, first + LOOKS_AT_ONCE)
    opened.push(...(await Promise.all(some.map(async (source) => ({ ...source, info: await raster.describe(source.source, signal) })))))
  }
  return opened
}

/**
 * Square kilometres that a job is about: its area, but no more than its items cover. An item covers what the largest of its
 * rasters covers; its footprint, which editors can write, only ever adds to that.
 */
export function groundOf(process: AnyProcess, params: unknown, sources: readonly OpenSource[]): number {
  const wanted = process.area?.(params) ?? null
  const items = new Map<string, number>()
  for (const { item: found, info } of sources)
    if (found) items.set(found.id, Math.max(items.get(found.id) ?? footprintSqKm(found.geometry), rasterSqKm(info)))
  const covered = [...items.values()].reduce((sum, sqKm) => sum + sqKm, 0)
  if (wanted?.geometry === undefined) return covered
  const asked = sqKmOf(requireArea(wanted.geometry, wanted.field))
  return covered === 0 ? asked : Math.min(asked * Math.max(1, items.size), covered)
}

/** Cells along each side that a raster is measured by: small enough that a projection bends none of them much. */
const MEASURED_CELLS = 16

/** What a raster covers on the ground; 0 where it does not say where it lies. */
function rasterSqKm({ width, height, transform, crs }: RasterInfo): number {
  if (!transform || !crs) return 0
  const project = projectorToLonLat(crs)
  const at = (column: number, row: number): Position => {
    const [x, y] = applyAffine(transform, (width * column) / MEASURED_CELLS, (height * row) / MEASURED_CELLS)
    const out: Point = [0, 0]
    project(x, y, out)
    return out
  }
  let sum = 0
  for (let row = 0; row < MEASURED_CELLS; row++)
    for (let column = 0; column < MEASURED_CELLS; column++) {
      const first = at(column, row)
      const corners = [first, at(column + 1, row), at(column + 1, row + 1), at(column, row + 1), first]
      const ring = corners.map(([x, y]): Position => [x - 360 * Math.round((x - first[0]) / 360), y])
      const sqKm = sqKmOf({ type: 'Polygon', coordinates: [ring] })
      if (Number.isFinite(sqKm)) sum += sqKm // A corner of it lies outside of what the projection can show.
    }
  return sum
}

/** Nothing for an item without a footprint, or with one that is no area. */
function footprintSqKm(geometry: item.Item['geometry']): number {
  try {
    return geometry === null ? 0 : sqKmOf(requireArea(geometry, 'geometry') as AreaGeometry)
  } catch (error) {
    if (error instanceof Problem) return 0
    throw error
  }
}
