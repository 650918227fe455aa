/** What STAC clients send, in the words of `stac.search`: the facade is lenient where the operation is strict. */
import { cql2FromText } from '#core/cql2-text.ts'
import { invalidField, problem } from '#core/problem.ts'
import { isInstant } from '#core/interval.ts'

type Json = Record<string, unknown>

/** More is asked for than one answer should hold: as many as this are sent, and the way to the rest. */
export const MAX_PAGE = 1_000
const DEFAULT_PAGE = 10

/** Names that a search takes, in an address or in a body. What else a client adds is not ours. */
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
type Asked = Partial<Record<(typeof NAMES)[number], unknown>>

export function pickAsked(from: Json): Asked {
  return Object.fromEntries(
    NAMES.flatMap((name) =>
      Object.hasOwn(from, name) && from[name] !== '' && (from[name] !== null || name === 'fields') ? [[name, from[name]]] : [],
    ),
  )
}

/** An address spells everything as text. */
export function fromQuery(query: Json): Asked {
  const asked = pickAsked(query)
  const list = (value: unknown) => (Array.isArray(value) ? value : String(value).split(',')).map(String).filter((each) => each !== '')
  const json = (name: 'intersects' | 'query', value: unknown) => {
    try {
      return JSON.parse(String(value)) as unknown
    } catch {
      throw invalidField(name, 'must be JSON')
    }
  }
  return {
    ...asked,
    ...(asked.collections === undefined ? {} : { collections: list(asked.collections) }),
    ...(asked.ids === undefined ? {} : { ids: list(asked.ids) }),
    ...(asked.bbox === undefined ? {} : { bbox: list(asked.bbox).map(numberOf) }),
    ...(asked.limit === undefined ? {} : { limit: numberOf(asked.limit) }),
    ...(asked.intersects === undefined ? {} : { intersects: json('intersects', asked.intersects) }),
    ...(asked.query === undefined ? {} : { query: json('query', asked.query) }),
    ...(asked.sortby === undefined ? {} : { sortby: list(asked.sortby).map(sorted) }),
    ...(asked.fields === undefined ? {} : { fields: picked(list(asked.fields)) }),
    ...(asked.filter === undefined ? {} : { 'filter-lang': asked['filter-lang'] ?? 'cql2-text' }),
  }
}

const numberOf = (value: unknown): unknown => (/^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/.test(String(value)) ? Number(value) : value)

/** `-datetime` and `+datetime`; the plus of an address that was not escaped comes as a space. */
function sorted(text: string): { field: string; direction: 'asc' | 'desc' } {
  return { field: text.replace(/^[\s+-]/, ''), direction: text.startsWith('-') ? 'desc' : 'asc' }
}

function picked(names: readonly string[]): { include?: string[]; exclude: string[] } {
  const include = names.filter((name) => !name.startsWith('-')).map((name) => name.replace(/^[\s+]/, ''))
  const exclude = names.filter((name) => name.startsWith('-')).map((name) => name.slice(1))
  return { ...(include.length > 0 ? { include } : {}), exclude }
}

/** The input of the operation. */
export function toInput(asked: Asked): Json {
  const { bbox, intersects, limit, filter, 'filter-lang': lang, token, datetime, fields, collections, ids, ...rest } = asked
  if (bbox !== undefined && intersects !== undefined) throw problem('bad-request', 'Send either bbox or intersects, not both')
  const shape = intersects as { type?: unknown } | undefined
  const isPolygon = shape?.type === 'Polygon'
  const near = shape !== undefined && !isPolygon ? { op: 's_intersects', args: [{ property: 'geometry' }, shape] } : null
  const wanted = filter === undefined ? null : filterOf(filter, lang)
  const all = [wanted, near].filter((each) => each !== null)
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

/** Some clients send the only id there is without a list around it. */
const listed = (value: unknown): unknown => (typeof value === 'string' ? [value] : value)

function filterOf(filter: unknown, lang: unknown): unknown {
  const spoken = lang ?? (typeof filter === 'string' ? 'cql2-text' : 'cql2-json')
  if (spoken === 'cql2-text' && typeof filter === 'string') return cql2FromText(filter)
  if (spoken !== 'cql2-json') throw problem('bad-request', `filter-lang is cql2-text or cql2-json, not '${String(spoken).slice(0, 60)}'`)
  if (typeof filter !== 'string') return filter
  try {
    return JSON.parse(filter) as unknown
  } catch {
    throw invalidField('filter', 'must be JSON, as its filter-lang says')
  }
}

/** Heights are left out: items are flat. */
function flatBox(bbox: unknown): unknown {
  return Array.isArray(bbox) && bbox.length === 6 ? [bbox[0], bbox[1], bbox[3], bbox[4]] : bbox
}

/** STAC takes instants where the operation takes dates too. */
function requireInstants(datetime: unknown): unknown {
  if (typeof datetime !== 'string') return datetime
  const wrong = datetime.split('/').find((end) => end !== '' && end !== '..' && !isInstant(end))
  if (wrong !== undefined) throw invalidField('datetime', `'${wrong.slice(0, 60)}' is not an RFC 3339 instant such as 2026-03-01T10:00:00Z`)
  return datetime
}

/** The lists of a body may be absent or null; fields themselves may not. */
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
