/** What processes that draw lines and areas have in common: a GeoJSON file whose item lies where the raster does. */
import type { OpenSource, Produced } from './process.ts'
import { timesOf } from './single.ts'

const GEOJSON_TYPE = 'application/geo+json'

export function derivedVector(
  sources: readonly OpenSource[],
  {
    name,
    suffix,
    path,
    title,
    properties,
    summary,
  }: { name: string | undefined; suffix: string; path: string; title: string; properties: object; summary: object },
): Produced {
  const [source] = sources
  const item = {
    ...timesOf(sources),
    name: name ?? `${source?.item?.name ?? 'Raster'}, ${suffix}`,
    type: 'derived_vector' as const,
    geometry: source!.item!.geometry,
    properties: { ...properties },
    assets: [{ key: 'data', title, roles: ['data'], mediaType: GEOJSON_TYPE, path }],
  }
  return { items: [item], summary: { ...summary } }
}
