/** Shared by processes with vector output: an item with a GeoJSON file and the footprint of the source. */
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
