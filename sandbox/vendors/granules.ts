/** Granules as STAC items, and the search for them. */
import { DAY_MS } from '#core/time.ts'
import type { PlanPlace } from '../scenes/index.ts'
import { granuleOf, granulesFor, type Granule } from './altimetry.ts'
import type { StacFeature } from './feature.ts'
import type { SandboxHost } from './hosts.ts'
import type { ParsedSearch } from './search.ts'
import { polygonsOf } from '#core/area.ts'

const ARCHIVE_DAYS = 5 * 365.25

export function searchGranules(wanted: ParsedSearch, now: Date): { granules: Granule[]; next: PlanPlace | null } {
  const fromMs = Math.max(wanted.from?.getTime() ?? 0, now.getTime() - ARCHIVE_DAYS * DAY_MS)
  const toMs = Math.min(wanted.to?.getTime() ?? Infinity, now.getTime())
  const granules: Granule[] = []
  // Points have no sky above them: a search that asks about clouds finds none of them.
  if (!wanted.accepts(null) || (wanted.collections !== null && !wanted.collections.includes('sandbox-altimetry')))
    return { granules, next: null }
  if (wanted.ids) {
    const found = wanted.ids
      .flatMap((id) => granuleOf(id) ?? [])
      .filter(({ datetime }) => Date.parse(datetime) >= fromMs && Date.parse(datetime) <= toMs)
    return { granules: found.slice(0, wanted.limit), next: null }
  }
  for (const { granule, place } of granulesFor({ bbox: boxOf(wanted), fromMs, toMs }, wanted.after)) {
    granules.push(granule)
    if (granules.length >= wanted.limit) return { granules, next: place }
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
