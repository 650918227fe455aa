/** What every search does: reads the filters, asks a host, and puts prices on what is sold. */
import { sqKmOf } from '#core/area.ts'
import { requireArea, type AreaGeometry } from '#core/geometry.ts'
import { parseInterval } from '#core/interval.ts'
import { audOf } from '#core/money.ts'
import { boundsOf } from '#core/position.ts'
import { invalidField, problem } from '#core/problem.ts'
import { requireBbox } from '#model/imagery/footprint.ts'
import { priced } from '#model/money/commitment.ts'
import type { Context } from '#operation.ts'
import type { PriceAnswer, Scene, SceneSearch, Source, Vendors } from '#ports/vendors.ts'
import { toFeature, type Feature, type FilterFields } from './wire.ts'

export type Filters = Omit<SceneSearch, 'limit' | 'cursor'>

/** Geodesic, with a hundredth for those who measure otherwise. */
const MAX_SQ_KM = 50_000 * 1.01

export function parseFilters({ collections, ids, datetime, query, bbox, intersects }: FilterFields): Filters {
  if (bbox && intersects) throw problem('bad-request', 'Give bbox or intersects, not both')
  const cloudCover = query ? cloudCoverOf(query) : null
  return {
    ...(collections?.length ? { collections } : {}),
    ...(ids?.length ? { ids } : {}),
    ...(datetime ? parseInterval(datetime, 'datetime') : {}),
    ...(bbox ? { bbox: requireBbox(bbox, 'bbox') as [number, number, number, number] } : {}),
    ...(intersects ? { intersects: requireSearchArea(intersects) } : {}),
    ...(cloudCover ? { cloudCover } : {}),
  }
}

function requireSearchArea(value: unknown): AreaGeometry {
  const area = requireArea(value, 'intersects', ['Polygon'])
  const sqKm = sqKmOf(area)
  if (sqKm > MAX_SQ_KM) throw invalidField('intersects', `covers ${Math.round(sqKm)} km²; at most 50,000 km² can be searched at once`)
  return area
}

const OPERATORS = ['GTE', 'LTE', 'GT', 'LT'] as const

function cloudCoverOf(query: Record<string, unknown>): SceneSearch['cloudCover'] | null {
  const { cloudCoverage, ...others } = query
  const [other] = Object.keys(others)
  if (other !== undefined) throw invalidField('query', `knows only cloudCoverage, not '${other.slice(0, 60)}'`)
  if (cloudCoverage === undefined) return null
  const entries = typeof cloudCoverage === 'object' && cloudCoverage !== null ? Object.entries(cloudCoverage) : []
  const [entry] = entries
  const operator = OPERATORS.find((name) => name === entry?.[0])
  if (entries.length !== 1 || !operator) throw invalidField('query.cloudCoverage', 'needs exactly one of GTE, LTE, GT and LT')
  const percent: unknown = entry![1]
  if (typeof percent !== 'number' || percent < 0 || percent > 100)
    throw invalidField(`query.cloudCoverage.${operator}`, 'must be a percentage from 0 to 100')
  return { operator, percent }
}

export function requireSource(vendors: Vendors, hostName: string): Source {
  const source = vendors.source(hostName)
  if (source) return source
  const known = vendors.sources.map((each) => each.hostName)
  throw problem('not-found', `There is no host '${hostName.slice(0, 100)}'. Known hosts: ${known.join(', ') || 'none'}`, {
    members: { known_hosts: known },
  })
}

/** Collections to ask for: those of the registry among the ones wanted, unless the whole catalogue is. Null: there is none. */
export function collectionsFor(source: Source, wanted: readonly string[] | undefined, isFull: boolean): readonly string[] | null {
  if (isFull) return wanted ?? []
  const known = source.collections.map(({ id }) => id)
  const chosen = wanted ? known.filter((id) => wanted.includes(id)) : known
  return chosen.length > 0 ? chosen : null
}

type Asking = Pick<Context, 'db' | 'vendors' | 'clock' | 'principal' | 'baseUrl' | 'signal'>

/** Features of a host's scenes, those that are sold with what a square kilometre of them costs this organization. */
export async function pricedFeatures(context: Asking, source: Source, scenes: readonly Scene[]): Promise<Feature[]> {
  const prices = await pricesOf(context, source, scenes)
  return scenes.map((scene, index) => toFeature(scene, source.hostName, context.baseUrl, prices[index] ?? {}))
}

/** Prices are read from a probe of one square kilometre, so that they hold for any area. */
async function pricesOf(
  { db, vendors, clock, principal, signal }: Asking,
  source: Source,
  scenes: readonly Scene[],
): Promise<Record<string, unknown>[]> {
  const shop = vendors.shop(source.hostName)
  const sold = scenes.filter(({ productId, geometry }) => productId !== null && geometry !== null)
  if (!shop || sold.length === 0) return []
  const answers = await shop.price(
    sold.map((scene) => ({ sceneId: scene.id, productId: scene.productId!, geometry: probeIn(scene) })),
    { signal },
  )
  const known = answers.filter((answer) => answer.ok)
  const lines = known.map(({ productId, centsPerSqKm }) => ({
    product: vendors.product(productId)!.name,
    area_km2: 1,
    credits: Math.ceil(centsPerSqKm),
  }))
  const agreed =
    principal.organizationId === null || lines.length === 0 ? lines : await priced(db, principal.organizationId, lines, clock.now())
  const credits = new Map(known.map((answer, index) => [answer as PriceAnswer, agreed[index]!.credits]))
  const byScene = new Map(sold.map((scene, index) => [scene.id, answers[index]!]))
  return scenes.map((scene) => {
    const answer = byScene.get(scene.id)
    if (!answer?.ok) return {}
    const creditsPerSqKm = credits.get(answer)!
    return {
      dataProduct: answer.productId,
      pricePerSqKm: audOf(creditsPerSqKm),
      creditsPerSqKm,
      pricingResolution: answer.resolutionClass,
    }
  })
}

const KM_PER_DEGREE = 111.32

/** A square kilometre in the middle of a scene. */
function probeIn({ geometry, bbox }: Scene): AreaGeometry {
  const [west, south, east, north] = bbox && bbox[0] <= bbox[2] ? bbox : boxOfFirst(geometry)
  const [x, y] = [(west + east) / 2, (south + north) / 2]
  const halfY = 0.5 / KM_PER_DEGREE
  const halfX = halfY / Math.max(0.05, Math.cos((y * Math.PI) / 180))
  return {
    type: 'Polygon',
    coordinates: [
      [
        [x - halfX, y - halfY],
        [x + halfX, y - halfY],
        [x + halfX, y + halfY],
        [x - halfX, y + halfY],
        [x - halfX, y - halfY],
      ],
    ],
  }
}

/** Of a shape in two parts, as at the date line, the first one. */
function boxOfFirst(geometry: Scene['geometry']): readonly [number, number, number, number] {
  const { type, coordinates } = geometry as AreaGeometry
  return boundsOf(type === 'Polygon' ? coordinates[0]! : coordinates[0]![0]!)
}
