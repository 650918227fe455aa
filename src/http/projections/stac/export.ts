/** Exports a whole search as one file: newline-delimited JSON or STAC GeoParquet. Each page is one call of `stac.search`. */
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { problem } from '#core/problem.ts'
import { project, queryOf } from '#http/projections/project.ts'
import { bodyOf, sendProblem } from './responses.ts'
import type { Facade } from './base-url.ts'
import { NDJSON_TYPE, PARQUET_TYPE } from './documents.ts'
import { openTable, type TableRow } from '#wire/stac-parquet.ts'
import { MAX_PAGE } from './query.ts'

type Format = 'ndjson' | 'parquet'
type Json = Record<string, unknown>

/** Maximum pages per file; export larger archives in parts, by time or by collection. */
const MAX_PAGES = 10_000

const TYPES: Readonly<Record<string, Format>> = {
  [NDJSON_TYPE]: 'ndjson',
  'application/ndjson': 'ndjson',
  'application/geo+json-seq': 'ndjson',
  [PARQUET_TYPE]: 'parquet',
  'application/x-parquet': 'parquet',
}

/** From `Accept`, or from `f=` for clients that cannot set headers. */
export function exportFormat(request: FastifyRequest): Format | null {
  const { f } = queryOf(request)
  if (f === 'ndjson' || f === 'parquet') return f
  if (f !== undefined && f !== '' && f !== 'json' && f !== 'geojson') throw problem('bad-request', 'f must be json, ndjson or parquet')
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
  const fetchPage = (next: string | null) =>
    project(facade, 'stac.search', request, reply, () => ({
      ...input(),
      limit: Math.max(1, Math.min(most, MAX_PAGE)),
      ...(next ? { next } : {}),
    }))
  const first = await fetchPage(null)
  if (first.status !== 200) return sendProblem(reply, first)
  const pages = pagesFrom(bodyOf<Page>(first), most, async (next) => {
    const invoked = await fetchPage(next)
    // The status has already been sent, so the response must end as incomplete.
    if (invoked.status !== 200) throw new Error(`a page of an export returned ${invoked.status}`)
    return bodyOf<Page>(invoked)
  })
  const { 'Content-Type': _json, ...headers } = first.headers
  reply.headers({ ...headers, 'Content-Disposition': `attachment; filename="items.${format}"` })
  return reply.type(format === 'ndjson' ? NDJSON_TYPE : PARQUET_TYPE).send(Readable.from(format === 'ndjson' ? lines(pages) : table(pages)))
}

async function* pagesFrom(first: Page, most: number, fetchPage: (next: string) => Promise<Page>): AsyncGenerator<TableRow[]> {
  let [page, left] = [first, most]
  for (let count = 1; ; count++) {
    yield page.features.slice(0, left)
    left -= page.features.length
    if (!page.next || left <= 0) return
    if (count >= MAX_PAGES) throw new Error('an export has more pages than allowed')
    page = await fetchPage(page.next)
  }
}

async function* lines(pages: AsyncIterable<TableRow[]>): AsyncGenerator<Buffer> {
  for await (const features of pages) yield Buffer.from(features.map((feature) => `${JSON.stringify(feature)}\n`).join(''))
}

/** The first page defines the columns; properties that only later items have go into separate JSON columns. */
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
