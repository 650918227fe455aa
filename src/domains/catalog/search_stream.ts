import Type from 'typebox'
import { Closed, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import type { Context } from '#operation.ts'
import type { ScenePage } from '#ports/vendors/catalog.ts'
import { readSearch, sealNext, searchPage, type HostSearch } from './page.lib.ts'
import { pricedFeatures } from './search.lib.ts'
import { EXAMPLE_FEATURE, filterFields, HostName, SceneFeature, searchLimit, type Feature } from './wire.ts'

const MAX_STREAM_LIMIT = 10_000
/** Small, so that the first scenes arrive early and few are in memory. */
const PAGE_SIZE = 100
/** Ends the search of a host that keeps returning empty pages. */
const MAX_PAGES = 400

const Summary = Closed({
  type: Type.Literal('Summary', { description: 'Line type' }),
  numberReturned: Type.Integer({ description: 'Number of scenes in the preceding lines' }),
  next: Nullable(Type.String({ description: 'Cursor of the next page; null on the last page' })),
})

/** The scenes of `catalog.search` as NDJSON, each line sent as soon as it is known, with a summary as the last line. */
export default operation({
  id: 'catalog.search_stream',
  scope: 'catalog:read',
  tier: 'read',
  raw: 'ndjson',
  input: Closed({
    host_name: HostName,
    ...filterFields,
    limit: searchLimit(MAX_STREAM_LIMIT),
    next: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 20_000, description: 'Cursor from an earlier summary line' }))),
  }),
  output: Type.Union([SceneFeature, Summary], { description: 'Each line is a scene; the last is a summary' }),
  example: { input: { host_name: 'sandbox-hr', bbox: [151.1, -33.9, 151.3, -33.7], limit: 1_000 }, output: EXAMPLE_FEATURE },
}).handle({
  check: readSearch,
  /** Fetches the first page before the response starts, so that a host that fails at once gives a problem and not a line. */
  prepare: (context, { limit }, search) => searchPage(context, search, Math.min(PAGE_SIZE, limit)),
  execute: async (context, { limit }, search, first) => lines(context, search, limit, first),
})

type Line = Feature | { type: 'Summary'; numberReturned: number; next: string | null }

async function* lines(context: Context, search: HostSearch, limit: number, first: ScenePage): AsyncGenerator<Line> {
  let page = first
  let count = 0
  for (let pages = 1; ; pages++) {
    for (const feature of await pricedFeatures(context, search, page.scenes)) yield feature
    count += page.scenes.length
    if (page.cursor === null || count >= limit || pages >= MAX_PAGES) break
    context.signal.throwIfAborted()
    page = await searchPage(context, { ...search, cursor: page.cursor }, Math.min(PAGE_SIZE, limit - count))
  }
  yield { type: 'Summary', numberReturned: count, next: await sealNext(context, search, page.cursor) }
}
