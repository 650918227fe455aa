/** A search as it is saved, and a saved search as an address. */
import type { CatalogSource, Input, SavedSearch } from '../../api/contract.ts'
import { encodeArea } from '../../map/geo.ts'
import type { Filters } from './scenes.ts'

/** What the form of a saved search has. */
export interface SearchDraft {
  name: string
  isAutomatic: boolean
  /** Maximum cloud cover of added scenes, in percent. */
  maxCloud: number
  mode: 'reference' | 'copy'
  /** Empty for none. */
  collectionId: string
}

const USUAL_CLOUD = 20
const MAX_CLOUD = 100

export const draftFrom = (search: SavedSearch | null, filters: Filters | null): SearchDraft => ({
  name: search?.name ?? '',
  isAutomatic: search ? search.auto_add !== null && search.active : true,
  maxCloud: search?.auto_add?.max_cloud_cover ?? search?.max_cloud_cover ?? filters?.cloud ?? USUAL_CLOUD,
  mode: search?.auto_add?.mode ?? 'reference',
  collectionId: search?.auto_add?.collection_id ?? '',
})

/** Limits that a range field cannot enforce on text that was typed or pasted. */
const cloudOf = (value: number) => (Number.isFinite(value) ? Math.max(0, Math.min(MAX_CLOUD, value)) : USUAL_CLOUD)

/** Keeps what the form does not show, such as the daily limit. */
export function automationOf({ isAutomatic, maxCloud, mode, collectionId }: SearchDraft, search: SavedSearch | null) {
  const { max_scenes_per_day } = search?.auto_add ?? {}
  return {
    auto_add: isAutomatic
      ? {
          mode,
          collection_id: collectionId || null,
          max_cloud_cover: cloudOf(maxCloud),
          ...(max_scenes_per_day === undefined ? {} : { max_scenes_per_day }),
        }
      : null,
    active: isAutomatic,
  }
}

/** Only open sources can be saved; null if none of the chosen sources is open. */
export function searchFrom(
  draft: SearchDraft,
  projectId: string,
  { filters, area, sources }: { filters: Filters; area: GeoJSON.Polygon; sources: readonly CatalogSource[] },
): Input<'saved_searches.create'> | null {
  const open = sources.filter(({ access_model }) => access_model === 'open')
  const chosen = filters.sources === null ? null : open.filter(({ host_name }) => filters.sources!.includes(host_name))
  if (chosen?.length === 0) return null
  return {
    project_id: projectId,
    name: draft.name.trim(),
    area: { type: 'Polygon', coordinates: area.coordinates as number[][][] },
    ...(chosen ? { source_ids: chosen.map(({ id }) => id) } : {}),
    ...(filters.cloud === null ? {} : { max_cloud_cover: filters.cloud }),
    ...automationOf(draft, null),
  }
}

/** The address that repeats a saved search. */
export function urlOfSearch({ area, source_ids, max_cloud_cover }: SavedSearch, sources: readonly CatalogSource[]) {
  const hosts = source_ids?.flatMap((id) => sources.find((source) => source.id === id)?.host_name ?? []) ?? []
  const isPolygon = area['type'] === 'Polygon'
  return {
    aoi: isPolygon ? encodeArea(area as unknown as GeoJSON.Polygon) : null,
    bbox: null,
    map: null,
    sel: null,
    scope: null,
    cloud: max_cloud_cover === null ? null : String(max_cloud_cover),
    sources: hosts.length > 0 ? hosts.join('.') : null,
  }
}
