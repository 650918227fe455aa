/** The origin of an item in words, from its STAC properties. */
import type { CatalogSource } from '../../api/contract.ts'
import { termsOf, textOf, urlOf } from '../../state/terms.ts'

interface OriginRow {
  name: string
  text: string
  url: string | null
}

type Properties = Readonly<Record<string, unknown>>

type Sources = readonly (Pick<CatalogSource, 'host_name' | 'title'> & { collections: readonly { id: string; title: string }[] })[]

/** With the titles of sources and collections that are known. */
export function originOf(properties: Properties, sources: Sources): OriginRow[] {
  const { licence, url, attribution } = termsOf(properties)
  const host = textOf(properties['svc:scene_host'])
  const collection = textOf(properties['svc:scene_collection'])
  const source = sources.find(({ host_name }) => host_name === host)
  const rows: readonly (readonly [string, string | null, string | null])[] = [
    ['Licence', licence, url],
    ['Attribution', attribution, null],
    ['Source', source?.title ?? host, null],
    ['Collection', source?.collections.find(({ id }) => id === collection)?.title ?? collection, null],
    ['Scene', textOf(properties['svc:scene_id']), urlOf(properties['svc:scene_url'])],
  ]
  return rows.flatMap(([name, text, url]) => (text === null ? [] : [{ name, text, url }]))
}
