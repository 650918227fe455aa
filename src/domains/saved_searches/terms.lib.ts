/** Checks of a search's terms that a schema cannot express. */
import { polygonsOf, sqKmOf } from '#core/area.ts'
import { requireArea } from '#core/geometry.ts'
import { invalidField } from '#core/problem.ts'
import { DAY_MS } from '#core/time.ts'
import * as collections from '#model/imagery/collection.ts'
import type { AutoAdd, SearchTerms } from '#model/scenes/saved-search.ts'
import type { Context } from '#operation.ts'
import { addsScenes, searchedSources } from '#services/scenes/find-scenes.ts'

/** Geodesic, with a tolerance of 1% for other ways to measure. */
const MAX_SQ_KM = 50_000 * 1.01
/** Each is searched by itself. */
const MAX_POLYGONS = 10
/** A background run reads a long past in parts; more than a year of it would take days. */
const MAX_PAST_DAYS = 366

export function areaOf(value: unknown): Record<string, unknown> {
  const area = requireArea(value, 'area')
  const count = polygonsOf(area).length
  if (count > MAX_POLYGONS) throw invalidField('area', `has ${count} polygons; the maximum is ${MAX_POLYGONS}`)
  const sqKm = sqKmOf(area)
  if (sqKm > MAX_SQ_KM) throw invalidField('area', `covers ${Math.round(sqKm)} km²; the maximum is 50,000 km²`)
  return area as unknown as Record<string, unknown>
}

export function dateFromOf(text: string | null | undefined, now: Date): Date {
  if (text == null) return now
  const date = new Date(text)
  if (date.getTime() < now.getTime() - MAX_PAST_DAYS * DAY_MS)
    throw invalidField('date_from', `must be at most ${MAX_PAST_DAYS} days ago; import older scenes with catalog.scene.save`)
  return date
}

type GivenAutoAdd = Partial<AutoAdd> | null | undefined

export const autoAddOf = (given: GivenAutoAdd): AutoAdd | null =>
  given == null
    ? null
    : {
        mode: given.mode ?? 'reference',
        collection_id: given.collection_id ?? null,
        max_cloud_cover: given.max_cloud_cover ?? null,
        max_scenes_per_day: given.max_scenes_per_day ?? 20,
        email: given.email ?? false,
      }

/**
 * 422 for unknown sources, for those whose scenes cannot be added although they should be, and for a search that no source can answer;
 * 404 for an unknown collection.
 */
export async function requireTerms({ db, vendors }: Pick<Context, 'db' | 'vendors'>, projectId: string, terms: SearchTerms): Promise<void> {
  const known = vendors.sources.filter(({ accessModel }) => accessModel === 'open' || !addsScenes(terms)).map(({ id }) => id)
  const unknown = terms.sourceIds?.find((id) => !known.includes(id))
  if (unknown !== undefined) {
    const kind = addsScenes(terms) ? 'an open source' : 'a source'
    throw invalidField('source_ids', `'${unknown.slice(0, 100)}' is not ${kind}; choose from ${known.join(', ') || 'none'}`)
  }
  if (searchedSources(vendors, terms).length === 0)
    throw invalidField(terms.collections ? 'collections' : 'area', 'no open source has imagery for this search; see catalog.sources.list')
  if (terms.autoAdd?.collection_id) await collections.requireIn(db, projectId, terms.autoAdd.collection_id)
}
