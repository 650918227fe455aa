/** The newest clear Sentinel-2 scene of a place, from the first open host that has one. */
import type { CatalogScene, CatalogSource, Input, Output } from '../../api/contract.ts'
import { boxPolygon, contains, decodeArea, encodeArea } from '../../map/geo.ts'
import { sentinelCollections } from '../../parts/places/open-sources.ts'
import type { Place } from '../../parts/places/place.ts'
import type { UrlPatch } from '../../state/url.ts'
import { catalogInput, filtersFromUrl } from './scenes.ts'

/** Half the side of the area, in degrees of latitude: about 6 km. */
const HALF_SIDE = 0.05
const MIN_COSINE = 0.05
const DAY_MS = 86_400_000

/** Recent and clear first. At some places and seasons, no scene is clear for months. */
const ATTEMPTS = [
  { days: 60, cloud: 20 },
  { days: 365, cloud: null },
] as const

export type SearchScenes = (input: Input<'catalog.search'>) => Promise<Pick<Output<'catalog.search'>, 'features'>>

interface Search {
  /** Those that respond. */
  sources: readonly CatalogSource[]
  search: SearchScenes
  now: Date
}

/** The address of Explore with the scene selected, or why there is none. */
export async function sceneOf(place: Place, { sources, search, now }: Search): Promise<{ url: UrlPatch } | { problem: string }> {
  if (sources.length === 0) return { problem: 'No host of open imagery can be reached. Try again when this service is online.' }
  const aoi = encodeArea(areaAround(place))
  let failure: string | null = null
  for (const { days, cloud } of ATTEMPTS)
    for (const source of sources) {
      const from = new Date(now.getTime() - days * DAY_MS).toISOString().slice(0, 10)
      const filters = { from, ...(cloud === null ? {} : { cloud: String(cloud) }), sources: source.host_name }
      try {
        // The same search as that of the screen, so that its list contains the scene.
        const { features } = await search(catalogInput(source.host_name, filtersFromUrl(filters, decodeArea(aoi))))
        const best = bestOf(features.filter(isOf(source, place)), cloud === null)
        if (best)
          return {
            url: {
              ...filters,
              cloud: filters.cloud ?? null,
              aoi,
              to: null,
              gsd: null,
              bbox: null,
              scope: null,
              map: null,
              place: null,
              sort: cloud === null ? 'clearest' : null,
              style: 'rgb',
              sel: `${source.host_name}/${best.id}`,
            },
          }
      } catch (error) {
        failure = `${source.title}: ${error instanceof Error ? error.message : String(error)}`
      }
    }
  return { problem: failure ?? `No Sentinel-2 scene of ${place.name} from the last year was found.` }
}

function areaAround({ longitude, latitude }: Place): GeoJSON.Polygon {
  const halfWidth = HALF_SIDE / Math.max(MIN_COSINE, Math.cos((latitude * Math.PI) / 180))
  return boxPolygon([
    Math.max(-180, longitude - halfWidth),
    Math.max(-90, latitude - HALF_SIDE),
    Math.min(180, longitude + halfWidth),
    Math.min(90, latitude + HALF_SIDE),
  ])
}

const isOf = (source: CatalogSource, { longitude, latitude }: Place) => {
  const collections = sentinelCollections(source)
  return ({ collection, geometry }: CatalogScene) =>
    collections.includes(collection) && geometry !== null && contains(geometry, [longitude, latitude])
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const cloudOf = ({ properties }: CatalogScene): number => {
  const cloud = properties['eo:cloud_cover']
  return typeof cloud === 'number' ? cloud : 100
}
const dayOf = ({ properties }: CatalogScene): string => text(properties['datetime']).slice(0, 10)
const newest = (a: CatalogScene, b: CatalogScene): number => Number(dayOf(a) < dayOf(b)) - Number(dayOf(a) > dayOf(b))
const clearest = (a: CatalogScene, b: CatalogScene): number => cloudOf(a) - cloudOf(b)

/** The newest scene, or the one with the least cloud; of equal ones, the other decides. */
const bestOf = (scenes: readonly CatalogScene[], byCloud: boolean): CatalogScene | undefined =>
  scenes.toSorted((a, b) => (byCloud ? clearest(a, b) || newest(a, b) : newest(a, b) || clearest(a, b)))[0]
