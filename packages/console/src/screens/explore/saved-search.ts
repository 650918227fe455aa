/** A search as it is saved, and a saved search as an address. */
import type { CatalogSource, Input, SavedSearch } from '../../api/contract.ts'
import { encodeArea, type AreaShape } from '../../map/geo.ts'
import type { Filters } from './scenes.ts'

/** What happens with new scenes. */
export type SearchAction = 'add' | 'tell' | 'none'

/** What the form of a saved search has. */
export interface SearchDraft {
  name: string
  action: SearchAction
  /** Maximum cloud cover of new scenes, in percent. */
  maxCloud: number
  mode: 'reference' | 'copy'
  /** Empty for none. */
  collectionId: string
  email: boolean
}

const USUAL_CLOUD = 20
const MAX_CLOUD = 100
/** Scenes that are only reported cost nothing. */
const MAX_REPORTED_PER_DAY = 200

export const draftFrom = (search: SavedSearch | null, filters: Filters | null): SearchDraft => ({
  name: search?.name ?? '',
  action: search ? actionOf(search) : 'add',
  maxCloud: search?.auto_add?.max_cloud_cover ?? search?.max_cloud_cover ?? filters?.cloud ?? USUAL_CLOUD,
  mode: search?.auto_add?.mode === 'copy' ? 'copy' : 'reference',
  collectionId: search?.auto_add?.collection_id ?? '',
  email: search?.auto_add?.email ?? false,
})

const actionOf = ({ auto_add, active }: SavedSearch): SearchAction =>
  auto_add === null || !active ? 'none' : auto_add.mode === 'notify' ? 'tell' : 'add'

/** Limits that a range field cannot enforce on text that was typed or pasted. */
const cloudOf = (value: number) => (Number.isFinite(value) ? Math.max(0, Math.min(MAX_CLOUD, value)) : USUAL_CLOUD)

/** Keeps what the form does not show, such as the daily limit. */
export function automationOf({ action, maxCloud, mode, collectionId, email }: SearchDraft, search: SavedSearch | null) {
  const { max_scenes_per_day } = search?.auto_add ?? {}
  const shared = { max_cloud_cover: cloudOf(maxCloud), email }
  if (action === 'none') return { auto_add: null, active: false }
  if (action === 'tell') return { auto_add: { ...shared, mode: 'notify' as const, max_scenes_per_day: MAX_REPORTED_PER_DAY }, active: true }
  return {
    auto_add: {
      ...shared,
      mode,
      collection_id: collectionId || null,
      ...(max_scenes_per_day === undefined ? {} : { max_scenes_per_day }),
    },
    active: true,
  }
}

/** Parameters of the address that a search restores, beside its area, sources and cloud cover. */
const RESTORED = ['from', 'to', 'gsd', 'cover', 'angle', 'price', 'sensors', 'sort', 'sources'] as const

type Url = Readonly<Record<string, string | undefined>>

const displayOf = (url: Url) => RESTORED.flatMap((name) => (url[name] ? [{ name, value: url[name].slice(0, 500) }] : []))

interface SearchNow {
  filters: Filters
  area: AreaShape
  sources: readonly CatalogSource[]
  url: Url
}

/** Only open scenes can be added to a project; null if the search is to add scenes and none of its sources is open. */
export function searchFrom(
  draft: SearchDraft,
  projectId: string,
  { filters, area, sources, url }: SearchNow,
): Input<'saved_searches.create'> | null {
  const { sources: hosts } = filters
  const usable = sources.filter(({ access_model }) => access_model === 'open' || draft.action !== 'add')
  const chosen = usable.filter(({ host_name }) => hosts === null || hosts.includes(host_name))
  if (chosen.length === 0 && hosts !== null) return null
  // Without a choice, the service searches all open sources, also those that come later.
  const isEverything = hosts === null && chosen.every(({ access_model }) => access_model === 'open')
  return {
    project_id: projectId,
    name: draft.name.trim(),
    area: { ...area },
    ...(isEverything ? {} : { source_ids: chosen.map(({ id }) => id) }),
    ...(filters.cloud === null ? {} : { max_cloud_cover: filters.cloud }),
    ...automationOf(draft, null),
    display: displayOf(url),
  }
}

/** The address that repeats a saved search: everything that it does not have is cleared. */
export function urlOfSearch({ area, source_ids, max_cloud_cover, display }: SavedSearch, sources: readonly CatalogSource[]) {
  const hosts = source_ids?.flatMap((id) => sources.find((source) => source.id === id)?.host_name ?? []) ?? []
  const isArea = area['type'] === 'Polygon' || area['type'] === 'MultiPolygon'
  const cleared = Object.fromEntries(RESTORED.map((name): [string, null] => [name, null]))
  const kept = Object.fromEntries((display ?? []).filter(({ name }) => name in cleared).map(({ name, value }) => [name, value]))
  return {
    ...cleared,
    sources: hosts.length > 0 && display === null ? hosts.join('.') : null,
    ...kept,
    aoi: isArea ? encodeArea(area as unknown as AreaShape) : null,
    bbox: null,
    place: null,
    map: null,
    sel: null,
    scope: null,
    cloud: max_cloud_cover === null ? null : String(max_cloud_cover),
  }
}
