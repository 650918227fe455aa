/** Granules as STAC items, and their search. */
import { DAY_MS } from '#core/time.ts'
import type { PlanPlace } from '../scenes/index.ts'
import { granuleOf, granulesFor, type Granule } from './altimetry.ts'
import type { StacFeature } from './feature.ts'
import type { SandboxHost } from './hosts.ts'
import type { ParsedSearch } from './search.ts'
import { polygonsOf } from '#core/area.ts'

const ARCHIVE_DAYS = 5 * 365.25

export function searchGranules(query: ParsedSearch, now: Date): { granules: Granule[]; next: PlanPlace | null } {
  const fromMs = Math.max(query.from?.getTime() ?? 0, now.getTime() - ARCHIVE_DAYS * DAY_MS)
  const toMs = Math.min(query.to?.getTime() ?? Infinity, now.getTime())
  const granules: Granule[] = []
  // Points have no cloud cover: a search that filters by it finds none of them.
  if (!query.accepts(null) || (query.collections !== null && !query.collections.includes('sandbox-altimetry')))
    return { granules, next: null }
  if (query.ids) {
    const matches = query.ids
      .flatMap((id) => granuleOf(id) ?? [])
      .filter(({ datetime }) => Date.parse(datetime) >= fromMs && Date.parse(datetime) <= toMs)
    return { granules: matches.slice(0, query.limit), next: null }
  }
  for (const { granule, place } of granulesFor({ bbox: boxOf(query), fromMs, toMs }, query.after)) {
    granules.push(granule)
    if (granules.length >= query.limit) return { granules, next: place }
  }
  return { granules, next: null }
}

function boxOf({ bbox, intersects }: ParsedSearch): readonly [number, number, number, number] {
  if (bbox) return bbox
  if (!intersects) return [-180, -90, 180, 90]
  const positions = polygonsOf(intersects).flat(2)
  const xs = positions.map(([x]) => x)
  const ys = positions.map(([, y]) => y)
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)]
}

export function granuleFeature(host: SandboxHost, base: string, { id, line, bbox, datetime, endDatetime }: Granule): StacFeature {
  return {
    type: 'Feature',
    stac_version: '1.0.0',
    stac_extensions: [],
    id,
    collection: host.name,
    geometry: { type: 'LineString', coordinates: line },
    bbox,
    properties: { datetime, start_datetime: datetime, end_datetime: endDatetime, platform: host.platform, simulated: true },
    links: [{ rel: 'self', href: `${base}/collections/${host.name}/items/${id}`, type: 'application/geo+json' }],
    assets: { points: { href: `${base}/points/${id}.ndjson`, type: 'application/x-ndjson', roles: ['data'] } },
  }
}
