/** Converts STAC requests to the input of `stac.search`: the API is lenient where the operation is strict. */
import { cql2FromText } from '#core/cql2-text.ts'
import { invalidField, problem } from '#core/problem.ts'
import { isInstant } from '#core/interval.ts'

type Json = Record<string, unknown>

/** Larger limits are reduced to this, with a link to the next page. */
export const MAX_PAGE = 1_000
const DEFAULT_PAGE = 10

/** Search parameters, in the query or in the body. Others, which clients may add, are ignored. */
const NAMES = [
  'collections',
  'ids',
  'datetime',
  'bbox',
  'intersects',
  'filter',
  'filter-lang',
  'sortby',
  'limit',
  'fields',
  'query',
  'token',
] as const
type SearchParameters = Partial<Record<(typeof NAMES)[number], unknown>>

export function pickParameters(from: Json): SearchParameters {
  return Object.fromEntries(
    NAMES.flatMap((name) =>
      Object.hasOwn(from, name) && from[name] !== '' && (from[name] !== null || name === 'fields') ? [[name, from[name]]] : [],
    ),
  )
}

/** All query parameters are strings. */
export function fromQuery(query: Json): SearchParameters {
  const parameters = pickParameters(query)
  const list = (value: unknown) => (Array.isArray(value) ? value : String(value).split(',')).map(String).filter((each) => each !== '')
  const json = (name: 'intersects' | 'query', value: unknown) => {
    try {
      return JSON.parse(String(value)) as unknown
    } catch {
      throw invalidField(name, 'must be JSON')
    }
  }
  return {
    ...parameters,
    ...(parameters.collections === undefined ? {} : { collections: list(parameters.collections) }),
    ...(parameters.ids === undefined ? {} : { ids: list(parameters.ids) }),
    ...(parameters.bbox === undefined ? {} : { bbox: list(parameters.bbox).map(numberOf) }),
    ...(parameters.limit === undefined ? {} : { limit: numberOf(parameters.limit) }),
    ...(parameters.intersects === undefined ? {} : { intersects: json('intersects', parameters.intersects) }),
    ...(parameters.query === undefined ? {} : { query: json('query', parameters.query) }),
    ...(parameters.sortby === undefined ? {} : { sortby: list(parameters.sortby).map(sorted) }),
    ...(parameters.fields === undefined ? {} : { fields: picked(list(parameters.fields)) }),
    ...(parameters.filter === undefined ? {} : { 'filter-lang': parameters['filter-lang'] ?? 'cql2-text' }),
  }
}

const numberOf = (value: unknown): unknown => (/^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/.test(String(value)) ? Number(value) : value)

/** `-datetime` and `+datetime`; an unescaped plus arrives as a space. */
function sorted(text: string): { field: string; direction: 'asc' | 'desc' } {
  return { field: text.replace(/^[\s+-]/, ''), direction: text.startsWith('-') ? 'desc' : 'asc' }
}

function picked(names: readonly string[]): { include?: string[]; exclude: string[] } {
  const include = names.filter((name) => !name.startsWith('-')).map((name) => name.replace(/^[\s+]/, ''))
  const exclude = names.filter((name) => name.startsWith('-')).map((name) => name.slice(1))
  return { ...(include.length > 0 ? { include } : {}), exclude }
}

/** The input of the operation. */
export function toInput(parameters: SearchParameters): Json {
  const { bbox, intersects, limit, filter, 'filter-lang': lang, token, datetime, fields, collections, ids, ...rest } = parameters
  if (bbox !== undefined && intersects !== undefined) throw problem('bad-request', 'Send either bbox or intersects, not both')
  const shape = intersects as { type?: unknown } | undefined
  const isPolygon = shape?.type === 'Polygon'
  const near = shape !== undefined && !isPolygon ? { op: 's_intersects', args: [{ property: 'geometry' }, shape] } : null
  const parsed = filter === undefined ? null : filterOf(filter, lang)
  const all = [parsed, near].filter((each) => each !== null)
  return {
    ...rest,
    ...(collections === undefined ? {} : { collections: listed(collections) }),
    ...(ids === undefined ? {} : { ids: listed(ids) }),
    ...(datetime === undefined ? {} : { datetime: requireInstants(datetime) }),
    ...(bbox === undefined ? {} : { bbox: flatBox(bbox) }),
    ...(isPolygon ? { intersects: shape } : {}),
    ...(all.length === 0 ? {} : { filter: all.length === 1 ? all[0] : { op: 'and', args: all } }),
    ...(fields === undefined ? {} : { fields: fieldsOf(fields) }),
    ...(token === undefined ? {} : { next: token }),
    limit: pageOf(limit),
    format: 'stac',
  }
}

/** Some clients send a single ID without a list. */
const listed = (value: unknown): unknown => (typeof value === 'string' ? [value] : value)

function filterOf(filter: unknown, lang: unknown): unknown {
  const language = lang ?? (typeof filter === 'string' ? 'cql2-text' : 'cql2-json')
  if (language === 'cql2-text' && typeof filter === 'string') return cql2FromText(filter)
  if (language !== 'cql2-json')
    throw problem('bad-request', `filter-lang must be cql2-text or cql2-json, not '${String(language).slice(0, 60)}'`)
  if (typeof filter !== 'string') return filter
  try {
    return JSON.parse(filter) as unknown
  } catch {
    throw invalidField('filter', 'must be JSON if filter-lang is cql2-json')
  }
}

/** Heights are dropped: items have none. */
function flatBox(bbox: unknown): unknown {
  return Array.isArray(bbox) && bbox.length === 6 ? [bbox[0], bbox[1], bbox[3], bbox[4]] : bbox
}

/** STAC only allows timestamps; the operation also accepts dates. */
function requireInstants(datetime: unknown): unknown {
  if (typeof datetime !== 'string') return datetime
  const wrong = datetime.split('/').find((end) => end !== '' && end !== '..' && !isInstant(end))
  if (wrong !== undefined)
    throw invalidField('datetime', `'${wrong.slice(0, 60)}' is not an RFC 3339 timestamp such as 2026-03-01T10:00:00Z`)
  return datetime
}

/** In a body, the lists can be absent or null, but `fields` itself cannot. */
function fieldsOf(fields: unknown): unknown {
  if (fields === null || typeof fields !== 'object' || Array.isArray(fields))
    throw invalidField('fields', 'must be an object with include and exclude')
  const { include, exclude } = fields as Json
  return { ...(include === undefined ? {} : { include: include ?? [] }), ...(exclude ? { exclude } : {}) }
}

function pageOf(limit: unknown): unknown {
  if (limit === undefined) return DEFAULT_PAGE
  return typeof limit === 'number' && Number.isInteger(limit) ? Math.min(limit, MAX_PAGE) : limit
}
