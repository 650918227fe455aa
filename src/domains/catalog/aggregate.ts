import Type from 'typebox'
import { Choice, Closed, Defaulted, Described, Nullable } from '#core/shapes.ts'
import { usableSources } from '#model/vendors/account.ts'
import { operation } from '#operation.ts'
import type { Scene } from '#ports/vendors/catalog.ts'
import { searchAll, selectSources, toReport } from './federated.lib.ts'
import { parseFilters, type Filters } from './search.lib.ts'
import { filterFields, MAX_SEARCH_LIMIT, sourceFields } from './wire.ts'

/** Maximum pages counted per source. */
const MAX_PAGES = 20
/** Upper bounds of the cloud cover classes, in percent. */
const CLOUD_CLASSES = [10, 30, 60, 100] as const

const GROUPS = ['day', 'source', 'cloud'] as const
type Group = (typeof GROUPS)[number]

const Bucket = Closed(
  {
    day: Type.Optional(
      Nullable(Type.String({ format: 'date', description: 'Acquisition day (UTC); null if unknown or not grouped by day' })),
    ),
    source_id: Described(Type.Optional(Type.String()), 'Source ID'),
    cloud: Type.Optional(
      Nullable(Type.String({ description: 'Cloud cover class in percent; null if unknown or not grouped by cloud cover' })),
    ),
    count: Type.Integer({ description: 'Number of scenes in the bucket' }),
  },
  { $id: 'SceneBucket', description: 'A group of counted scenes' },
)

/** Counts scenes by day, source and cloud cover, for a timeline. */
export default operation({
  id: 'catalog.aggregate',
  scope: 'catalog:read',
  tier: 'read',
  input: Closed({
    ...filterFields,
    ...sourceFields,
    by: Defaulted(Type.Array(Choice(GROUPS), { minItems: 1, maxItems: 3, uniqueItems: true }), ['day'], {
      description: 'Properties to group by; several give one bucket per combination',
    }),
  }),
  output: Closed(
    {
      buckets: Type.Array(Bucket, { description: 'Non-empty buckets, ordered by their keys' }),
      total: Type.Integer({ description: 'Total number of scenes counted' }),
      complete: Type.Boolean({ description: '`false` if a source failed or had too many scenes to count in time' }),
      sources: Type.Array(
        Closed(
          {
            source_id: Type.String({ description: 'Source ID' }),
            title: Type.String({ description: 'Source title' }),
            count: Type.Integer({ description: 'Number of scenes counted' }),
            error: Described(Nullable(Type.String()), 'Why the source could not be counted; null if it was'),
          },
          { $id: 'CountedSource', description: 'Scene count of one source' },
        ),
        { description: 'Searched sources with their scene counts' },
      ),
    },
    { description: 'Number of scenes by group' },
  ),
  example: {
    input: { bbox: [151.1, -33.9, 151.3, -33.7], datetime: '2026-02-01/2026-02-28', by: ['day', 'cloud'] },
    output: {
      buckets: [{ day: '2026-02-14', cloud: '0-10', count: 3 }],
      total: 3,
      complete: true,
      sources: [{ source_id: 'sandbox-hr', title: 'A vendor', count: 3, error: null }],
    },
  },
}).handle({
  async check({ db, vendors, principal }, input) {
    const filters = parseFilters(input)
    return { filters, selected: selectSources(await usableSources(db, vendors, principal.organizationId), filters, input) }
  },
  async execute(context, { by }, { filters, selected }) {
    const results = await searchAll(context, selected, filters, MAX_SEARCH_LIMIT, MAX_PAGES)
    const counted = new Map<string, { day?: string | null; source_id?: string; cloud?: string | null; count: number }>()
    for (const { source, scenes } of results)
      for (const scene of scenes) {
        const keys = Object.assign({}, ...by.map((group) => keyOf(group, source.id, scene, filters)))
        const name = JSON.stringify(keys)
        const bucket = counted.get(name) ?? { ...keys, count: 0 }
        bucket.count++
        counted.set(name, bucket)
      }
    const buckets = [...counted].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, bucket]) => bucket)
    return {
      buckets,
      total: buckets.reduce((sum, { count }) => sum + count, 0),
      complete: results.every(({ hasMore, error }) => !hasMore && error === null),
      sources: results.map(toReport),
    }
  },
})

function keyOf(group: Group, sourceId: string, { datetime, cloudCover }: Scene, filters: Filters): object {
  if (group === 'day') return { day: datetime === null ? null : dayOf(new Date(datetime), filters) }
  if (group === 'source') return { source_id: sourceId }
  return { cloud: cloudCover === null ? null : cloudClass(cloudCover) }
}

/** A scene acquired over several days can begin before the requested interval; it then counts for the first requested day. */
function dayOf(acquiredAt: Date, { from, to }: Filters): string {
  const day = from && acquiredAt < from ? from : to && acquiredAt > to ? to : acquiredAt
  return day.toISOString().slice(0, 10)
}

function cloudClass(percent: number): string {
  const index = CLOUD_CLASSES.findIndex((end) => percent <= end)
  return `${index === 0 ? 0 : CLOUD_CLASSES[index - 1]}-${CLOUD_CLASSES[index]}`
}
