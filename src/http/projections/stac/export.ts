/** A whole search as a file, page after page: lines of JSON, or STAC-GeoParquet. Each page is one call of `stac.search`. */
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { problem } from '#core/problem.ts'
import { project, queryOf } from '#http/projections/project.ts'
import { bodyOf, sendProblem } from './answers.ts'
import type { Facade } from './base-url.ts'
import { NDJSON_TYPE, PARQUET_TYPE } from './documents.ts'
import { openTable, type TableRow } from '#wire/stac-parquet.ts'
import { MAX_PAGE } from './query.ts'

type Format = 'ndjson' | 'parquet'
type Json = Record<string, unknown>

/** Pages of one file; larger archives are exported in parts, by time or by collection. */
const MAX_PAGES = 10_000

const TYPES: Readonly<Record<string, Format>> = {
  [NDJSON_TYPE]: 'ndjson',
  'application/ndjson': 'ndjson',
  'application/geo+json-seq': 'ndjson',
  [PARQUET_TYPE]: 'parquet',
  'application/x-parquet': 'parquet',
}

/** By `Accept`, or by `f=` for who cannot say it in a header. */
export function exportFormat(request: FastifyRequest): Format | null {
  const { f } = queryOf(request)
  if (f === 'ndjson' || f === 'parquet') return f
  if (f !== undefined && f !== '' && f !== 'json' && f !== 'geojson') throw problem('bad-request', 'f is json, ndjson or parquet')
  const first = String(request.headers.accept ?? '')
    .split(',')[0]!
    .split(';')[0]!
    .trim()
    .toLowerCase()
  return TYPES[first] ?? null
}

interface Page {
  features: TableRow[]
  next?: string
}

export async function exportAs(
  format: Format,
  facade: Facade,
  request: FastifyRequest,
  reply: FastifyReply,
  input: () => Json,
): Promise<FastifyReply> {
  const { limit } = queryOf(request)
  const most = limit === undefined || limit === '' ? Infinity : Number(limit)
  const ask = (next: string | null) =>
    project(facade, 'stac.search', request, reply, () => ({
      ...input(),
      limit: Math.max(1, Math.min(most, MAX_PAGE)),
      ...(next ? { next } : {}),
    }))
  const first = await ask(null)
  if (first.status !== 200) return sendProblem(reply, first)
  const pages = pagesFrom(bodyOf<Page>(first), most, async (next) => {
    const invoked = await ask(next)
    // The status has gone out already: what is cut short must look cut short.
    if (invoked.status !== 200) throw new Error(`a page of an export answered ${invoked.status}`)
    return bodyOf<Page>(invoked)
  })
  const { 'Content-Type': _json, ...headers } = first.headers
  reply.headers({ ...headers, 'Content-Disposition': `attachment; filename="items.${format}"` })
  return reply.type(format === 'ndjson' ? NDJSON_TYPE : PARQUET_TYPE).send(Readable.from(format === 'ndjson' ? lines(pages) : table(pages)))
}

async function* pagesFrom(first: Page, most: number, ask: (next: string) => Promise<Page>): AsyncGenerator<TableRow[]> {
  let [page, left] = [first, most]
  for (let count = 1; ; count++) {
    yield page.features.slice(0, left)
    left -= page.features.length
    if (!page.next || left <= 0) return
    if (count >= MAX_PAGES) throw new Error('an export has more pages than one file may')
    page = await ask(page.next)
  }
}

async function* lines(pages: AsyncIterable<TableRow[]>): AsyncGenerator<Buffer> {
  for await (const features of pages) yield Buffer.from(features.map((feature) => `${JSON.stringify(feature)}\n`).join(''))
}

/** The columns are those of the first page; what only later items have stands in columns of its own. */
async function* table(pages: AsyncGenerator<TableRow[]>): AsyncGenerator<Uint8Array> {
  let page = await pages.next()
  if (page.done) return
  let next = await pages.next()
  const open = openTable(page.value, !next.done)
  while (!page.done) {
    if (page.value.length > 0) yield open.rows(page.value)
    page = next
    if (!page.done) next = await pages.next()
  }
  yield open.end()
}
