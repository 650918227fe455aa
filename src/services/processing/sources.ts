/** The rasters that a job is about, found for whoever asks: what they may not read is not there. */
import { sqKmOf } from '#core/area.ts'
import { requireArea, type AreaGeometry } from '#core/geometry.ts'
import { invalidField, Problem, problem } from '#core/problem.ts'
import * as asset from '#model/imagery/asset.ts'
import * as item from '#model/imagery/item-read.ts'
import type { Context } from '#operation.ts'
import type { AnyProcess, OpenSource, Source, SourceWish } from './process.ts'

/** Each is an open file and a look at it before the job begins. */
const MAX_SOURCES = 500
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
    asset.requireReachable(file, raster)
    return { item: found, key: file.key, bandNames: file.bandNames, source: asset.rasterSourceOf(file) }
  })
}

const isRaster = ({ mediaType, roles }: asset.Asset): boolean =>
  (mediaType === null || /^image\/(tiff|vnd\.stac\.geotiff)/.test(mediaType)) &&
  !roles.some((role) => ['provenance', 'metadata', 'overview', 'thumbnail'].includes(role))

async function assetsOf({ db }: Pick<Means, 'db'>, found: item.Item, { assets: wanted, field }: Extract<SourceWish, { itemId: string }>) {
  const all = await asset.list(db, found.seq)
  if (wanted !== 'primary' && wanted !== 'rasters')
    return wanted.map((key) => {
      const named = all.find((file) => file.key === key)
      if (!named) throw invalidField(field, `has no asset '${key}'; it has ${all.map((file) => file.key).join(', ') || 'none'}`)
      return named
    })
  const rasters = all.filter(isRaster)
  if (rasters.length === 0) throw problem('bad-request', `The item '${found.name}' has no raster to work on`)
  return wanted === 'rasters'
    ? rasters
    : [rasters.find(({ key }) => key === 'data') ?? rasters.find(({ roles }) => roles.includes('data')) ?? rasters[0]!]
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

/** Square kilometres that a job is about: its area, but no more than its rasters cover. */
export function groundOf(process: AnyProcess, params: unknown, sources: readonly Source[]): number {
  const wanted = process.area?.(params) ?? null
  const items = new Map(sources.flatMap(({ item: found }) => (found ? [[found.id, found] as const] : [])))
  const covered = [...items.values()].reduce((sum, { geometry }) => sum + coverage(geometry), 0)
  if (wanted?.geometry === undefined) return covered
  const asked = sqKmOf(requireArea(wanted.geometry, wanted.field))
  return covered === 0 ? asked : Math.min(asked * Math.max(1, items.size), covered)
}

/** Items without an outline, or with one of another kind, cost the least. */
function coverage(geometry: item.Item['geometry']): number {
  try {
    return geometry === null ? 0 : sqKmOf(requireArea(geometry, 'geometry') as AreaGeometry)
  } catch (error) {
    if (error instanceof Problem) return 0
    throw error
  }
}
