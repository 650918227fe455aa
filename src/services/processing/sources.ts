/** Finds the source rasters of a job. Items that the caller cannot read are not found. */
import { sqKmOf } from '#core/area.ts'
import { requireArea, type AreaGeometry, type Position } from '#core/geometry.ts'
import { invalidField, Problem, problem } from '#core/problem.ts'
import * as assets from '#model/imagery/asset.ts'
import * as itemLayers from '#model/imagery/item-layer.ts'
import * as items from '#model/imagery/item-read.ts'
import type { Context } from '#operation.ts'
import { referenceTo, requireOpenScene } from '#services/scenes/open-scene.ts'
import { namingAsset } from '#raster/stack/band.ts'
import type { RasterInfo } from '#raster/types.ts'
import { applyAffine } from '#raster/warp/affine.ts'
import { projectorToLonLat, type Point } from '#raster/warp/projector.ts'
import type { AnyProcess, OpenSource, Source, SourceRequest } from './process.ts'

/** Each is an open file, whose header is read before the job starts. */
export const MAX_SOURCES = 500
const HEADER_CONCURRENCY = 4

type SourceContext = Pick<Context, 'db' | 'principal' | 'raster' | 'vendors' | 'signal'>

/** 404 and 403 as for reading an item; 400 for an item of another organization, or one without a usable file. */
export async function findSources(
  context: SourceContext,
  process: AnyProcess,
  params: unknown,
  organizationId: string | null,
): Promise<Source[]> {
  const sources: Source[] = []
  for (const request of process.sources(params)) sources.push(...(await findRequested(context, request, organizationId)))
  if (sources.length > MAX_SOURCES)
    throw problem('bad-request', `A job can use at most ${MAX_SOURCES} rasters; this one has ${sources.length}`)
  return sources
}

async function findRequested(context: SourceContext, request: SourceRequest, organizationId: string | null): Promise<Source[]> {
  const { db, principal, raster } = context
  if ('scene' in request) return await filesOfScene(context, request)
  if ('url' in request) {
    if (!raster.canRead(request.url)) throw invalidField(request.field, 'must be an HTTPS URL on an allowed host')
    return [{ item: null, key: request.key, bandNames: null, source: { url: request.url } }]
  }
  const { item } = await items.requireReader(db, principal, request.itemId)
  if (organizationId !== null && item.organizationId !== organizationId)
    throw problem(
      'bad-request',
      `The item '${item.name}' belongs to another organization; a job can only use items of its own organization`,
    )
  if (item.lifecycleState === 'expired') throw problem('bad-request', `The item '${item.name}' is past its retention period`)
  const stack = request.assets === 'primary' ? await findStack(db, item, raster, request.without ?? []) : null
  if (stack) return [stack]
  return (await assetsOf({ db }, item, request)).map((file) => {
    assets.requireReachable(file, raster)
    const stated = { roles: file.roles, fields: (file.raster?.['stac'] ?? {}) as Record<string, unknown> }
    return { item, key: file.key, bandNames: file.bandNames, source: assets.rasterSourceOf(file), stated }
  })
}

/** The files of an item whose bands are in several, as one raster; null for other items. A band fails only where it is used. */
async function findStack(
  db: SourceContext['db'],
  item: items.Item,
  raster: SourceContext['raster'],
  without: readonly string[],
): Promise<Source | null> {
  const layer = await itemLayers.find(db, item.seq, { assetKey: null, profile: null })
  if (!layer?.asset.stack) return null
  const stack = layer.asset.stack.filter(({ file }) => !without.includes(file.key))
  if (stack.length === 0) return null
  const key = stack.map(({ file }) => file.key).join(',')
  return { item, key, bandNames: stack.map(({ band }) => band.name), source: assets.rasterSourceOf({ ...layer.asset, key, stack }, raster) }
}

/** The scene is read from its host again, so that nothing about it can be invented. */
async function filesOfScene(
  context: SourceContext,
  { scene: { hostName, id }, assets: keys }: Extract<SourceRequest, { scene: object }>,
): Promise<Source[]> {
  const open = await requireOpenScene(context, { hostName, id, assets: keys })
  const scene = referenceTo(open, { ...context, collectionId: null })
  return open.files.map((key) => {
    const { bandNames } = scene.assets.find((asset) => asset.key === key)!
    return { item: null, key, bandNames, source: { url: open.scene.assets[key]!.href }, scene }
  })
}

const isRaster = ({ mediaType, roles }: assets.Asset): boolean =>
  (mediaType === null || /^image\/(tiff|vnd\.stac\.geotiff)/.test(mediaType)) &&
  !roles.some((role) => ['provenance', 'metadata', 'overview', 'thumbnail'].includes(role))

async function assetsOf(
  { db }: Pick<SourceContext, 'db'>,
  item: items.Item,
  { assets: requested, field, keysField }: Extract<SourceRequest, { itemId: string }>,
) {
  const all = await assets.list(db, item.seq)
  if (requested !== 'primary' && requested !== 'rasters')
    return requested.map((key) => {
      const named = all.find((file) => file.key === key)
      if (keysField && (!named || !isRaster(named))) throw unresolved(item, key, keysField, all)
      if (!named) throw invalidField(field, `has no asset '${key}'; available: ${all.map((file) => file.key).join(', ') || 'none'}`)
      return named
    })
  const rasters = all.filter(isRaster)
  if (rasters.length === 0) throw problem('bad-request', `The item '${item.name}' has no raster`)
  return requested === 'rasters'
    ? rasters
    : [rasters.find(({ key }) => key === 'data') ?? rasters.find(({ roles }) => roles.includes('data')) ?? rasters[0]!]
}

function unresolved({ name }: items.Item, key: string, field: string, all: readonly assets.Asset[]): Problem {
  const rasters = all.filter(isRaster).map((file) => file.key)
  const message = `'${key}' is not a raster asset of '${name}'; available: ${rasters.join(', ') || 'none'}`
  return problem('bad-request', `No raster assets resolved: ${field}: ${message}`, { members: { errors: [{ field, message }] } })
}

/** Reads the header of every raster, so that errors occur before anything is charged. The error names the file that fails. */
export async function openSources(
  { raster, signal }: Pick<SourceContext, 'raster' | 'signal'>,
  sources: readonly Source[],
): Promise<OpenSource[]> {
  const opened: OpenSource[] = []
  const isOne = sources.length === 1
  const describe = ({ key, source }: Source) =>
    isOne ? raster.describe(source, signal) : namingAsset(key, () => raster.describe(source, signal))
  for (let first = 0; first < sources.length; first += HEADER_CONCURRENCY) {
    const batch = sources.slice(first, first + HEADER_CONCURRENCY)
    opened.push(...(await Promise.all(batch.map(async (source) => ({ ...source, info: await describe(source) })))))
  }
  return opened
}

/**
 * Area of a job in km²: the requested area, but no more than its items cover. An item covers what its largest raster covers;
 * its footprint, which editors can change, can only add to that.
 */
export function areaSqKmOf(process: AnyProcess, params: unknown, sources: readonly OpenSource[]): number {
  const requested = process.area?.(params) ?? null
  const sqKmByItem = new Map<string, number>()
  for (const { item, scene, info } of sources) {
    const owner = item ?? scene
    if (owner) sqKmByItem.set(owner.id, Math.max(sqKmByItem.get(owner.id) ?? footprintSqKm(item?.geometry ?? null), rasterSqKm(info)))
  }
  const covered = [...sqKmByItem.values()].reduce((sum, sqKm) => sum + sqKm, 0)
  if (requested?.geometry === undefined) return covered
  const requestedSqKm = sqKmOf(requireArea(requested.geometry, requested.field))
  return covered === 0 ? requestedSqKm : Math.min(requestedSqKm * Math.max(1, sqKmByItem.size), covered)
}

/** A raster is measured in this many cells per side, so that each is nearly straight in any projection. */
const MEASURED_CELLS = 16

/** Area of a raster on the ground; 0 without a georeference. */
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
      if (Number.isFinite(sqKm)) sum += sqKm // Not finite if a corner lies outside the projection's domain.
    }
  return sum
}

/** 0 for an item without a footprint, or whose footprint is not an area. */
function footprintSqKm(geometry: items.Item['geometry']): number {
  try {
    return geometry === null ? 0 : sqKmOf(requireArea(geometry, 'geometry') as AreaGeometry)
  } catch (error) {
    if (error instanceof Problem) return 0
    throw error
  }
}
