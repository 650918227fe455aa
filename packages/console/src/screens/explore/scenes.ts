/** Scenes of every source, and one's own items, in one shape. */
import { useQueries } from '@tanstack/react-query'
import { useRef } from 'react'
import { call } from '../../api/client.ts'
import type { CatalogScene, CatalogVendor, ItemFeature } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { boxOf, coverage, type Box } from '../../map/geo.ts'
import { tileOf } from '../../ui/auth-image.tsx'
import type { Scene } from '../../state/scene.ts'

export interface Filters {
  area: GeoJSON.Polygon | null
  view: Box
  from: string
  to: string
  cloud: number | null
  gsd: number | null
  sources: readonly string[] | null
}

const PER_SOURCE = 100
const number = (value: unknown) => (typeof value === 'number' ? value : null)
const text = (value: unknown) => (typeof value === 'string' ? value : null)

function fromCatalog(feature: CatalogScene, vendor: CatalogVendor, area: GeoJSON.Polygon | null): Scene {
  const { properties, links, id } = feature
  const link = (rel: string) => links.find((candidate) => candidate.rel === rel)?.href
  const path = (href: string | undefined) => (href ? new URL(href, location.origin).pathname : null)
  const bands = Array.isArray(properties['eo:bands'])
    ? (properties['eo:bands'] as { name?: string }[]).flatMap(({ name }) => name ?? [])
    : []
  const geometry = feature.geometry
  return {
    key: `${vendor.host_name}/${id}`,
    id,
    kind: 'catalog',
    host: vendor.host_name,
    source: vendor.title,
    product: text(properties['dataProduct']),
    datetime: text(properties['datetime']),
    cloud: number(properties['eo:cloud_cover']),
    gsd: number(properties['gsd']) ?? number(properties['pricingResolution']),
    geometry,
    covered: area ? coverage(area, geometry) : null,
    creditsPerKm2: number(properties['creditsPerSqKm']),
    thumbnail: path(link('thumbnail')),
    quicklook: path(link('preview')),
    offNadir: number(properties['view:off_nadir']),
    sunElevation: number(properties['view:sun_elevation']),
    bands,
    title: id,
  }
}

function fromItem(feature: ItemFeature, area: GeoJSON.Polygon | null): Scene {
  const { properties, id } = feature
  const geometry = feature.geometry
  return {
    key: `item/${id}`,
    id,
    kind: 'item',
    host: 'mine',
    source: text(properties['title']) ?? text(properties['name']) ?? id,
    product: null,
    datetime: text(properties['datetime']),
    cloud: number(properties['eo:cloud_cover']),
    gsd: number(properties['gsd']),
    geometry,
    covered: area ? coverage(area, geometry) : null,
    creditsPerKm2: null,
    thumbnail: tileOf(`/api/v1/items/${encodeURIComponent(id)}`, feature.bbox ?? boxOf(geometry)),
    quicklook: null,
    offNadir: null,
    sunElevation: null,
    bands: [],
    title: text(properties['title']) ?? id,
  }
}

/** A scene is worked out once for an area, however often its list is drawn. */
const workedOut = new WeakMap<object, { area: GeoJSON.Polygon | null; scene: Scene }>()

function sceneOf(feature: object, area: GeoJSON.Polygon | null, make: () => Scene): Scene {
  const known = workedOut.get(feature)
  if (known?.area === area) return known.scene
  const scene = make()
  workedOut.set(feature, { area, scene })
  return scene
}

/** The same list as before while the same scenes are in it, so that what hangs on it rests. */
function useSame(scenes: readonly Scene[]): readonly Scene[] {
  const kept = useRef(scenes)
  if (kept.current.length !== scenes.length || kept.current.some((scene, index) => scene !== scenes[index])) kept.current = scenes
  return kept.current
}

interface SourceFailure {
  host: string
  title: string
  message: string
  retry(): void
}

export interface SceneSearch {
  scenes: readonly Scene[]
  failures: readonly SourceFailure[]
  sourceCount: number
  answered: number
  isLoading: boolean
}

const interval = ({ from, to }: Filters) => `${from || '..'}/${to || '..'}`

/** Each source by itself, at the same time: one that fails takes nothing from the others. */
export function useCatalog(filters: Filters, vendors: readonly CatalogVendor[], enabled: boolean): SceneSearch {
  const chosen = vendors.filter(({ host_name }) => filters.sources === null || filters.sources.includes(host_name))
  const where = filters.area ? { intersects: filters.area } : { bbox: filters.view }
  const results = useQueries({
    queries: chosen.map((vendor) => {
      const input = {
        host_name: vendor.host_name,
        ...where,
        ...(filters.from || filters.to ? { datetime: interval(filters) } : {}),
        ...(filters.cloud === null ? {} : { query: { cloudCoverage: { LTE: filters.cloud } } }),
        limit: PER_SOURCE,
      }
      return {
        queryKey: ['catalog.search', input],
        queryFn: ({ signal }: { signal: AbortSignal }) => call('catalog.search', input, { signal }),
        enabled,
        staleTime: 60_000,
        retry: false,
      }
    }),
  })
  const scenes = results.flatMap(({ data }, index) =>
    (data?.features ?? []).map((feature) => sceneOf(feature, filters.area, () => fromCatalog(feature, chosen[index]!, filters.area))),
  )
  return {
    scenes: useSame(scenes.filter(({ gsd }) => filters.gsd === null || gsd === null || gsd <= filters.gsd)),
    failures: results.flatMap(({ error, refetch }, index) =>
      error
        ? [
            {
              host: chosen[index]!.host_name,
              title: chosen[index]!.title,
              message: error.message,
              retry: () => void refetch(),
            },
          ]
        : [],
    ),
    sourceCount: chosen.length,
    answered: results.filter(({ data }) => data !== undefined).length,
    isLoading: enabled && results.some(({ isPending }) => isPending),
  }
}

export function useMine(filters: Filters, enabled: boolean): SceneSearch {
  const box = boxOf(filters.area) ?? filters.view
  const query = useOp(
    'items.search_org',
    {
      bbox: box,
      ...(filters.from || filters.to ? { datetime: interval(filters) } : {}),
      ...(filters.cloud === null ? {} : { query: { 'eo:cloud_cover': { lte: filters.cloud } } }),
      limit: 200,
    },
    { enabled, keep: true },
  )
  return {
    scenes: useSame((query.data?.features ?? []).map((feature) => sceneOf(feature, filters.area, () => fromItem(feature, filters.area)))),
    failures: query.error ? [{ host: 'mine', title: 'Your items', message: query.error.message, retry: () => void query.refetch() }] : [],
    sourceCount: 1,
    answered: query.data ? 1 : 0,
    isLoading: enabled && query.isPending,
  }
}

export type Sort = 'newest' | 'clearest' | 'covers' | 'cheapest'

export function sorted(scenes: readonly Scene[], sort: Sort): Scene[] {
  // Dates of the contract are all written alike, so that they sort as text does.
  const newest = (a: Scene, b: Scene) => Number((a.datetime ?? '') < (b.datetime ?? '')) - Number((a.datetime ?? '') > (b.datetime ?? ''))
  const by: Record<Sort, (a: Scene, b: Scene) => number> = {
    newest,
    clearest: (a, b) => (a.cloud ?? 101) - (b.cloud ?? 101) || newest(a, b),
    covers: (a, b) => (b.covered ?? 0) - (a.covered ?? 0) || newest(a, b),
    cheapest: (a, b) => (a.creditsPerKm2 ?? 0) - (b.creditsPerKm2 ?? 0) || newest(a, b),
  }
  return scenes.toSorted(by[sort])
}
