/** Requests of STAPI clients as inputs of operations, and problems of operations with the names of STAPI. */
import { parseCql2 } from '#core/cql2.ts'
import type { Cql2 } from '#core/cql2-tree.ts'
import { parseInterval } from '#core/interval.ts'
import { nearest } from '#core/nearest.ts'
import { invalidField } from '#core/problem.ts'
import { DAY_MS } from '#core/time.ts'
import { isIn } from '#core/vocabulary.ts'
import { LIMITS, WINDOW, type Json } from './documents.ts'

const INTERVAL = 'must be two timestamps separated by /, such as 2026-04-01T00:00:00Z/2026-04-15T00:00:00Z, with .. for one open end'
/** An interval without an end has this length. */
const DEFAULT_DAYS = 14
export const DEFAULT_LIMIT = 10
/** A larger limit is reduced to it. */
export const MAX_LIMIT = 100
/** The last page that operations return. */
const MAX_PAGE = 10_000

export interface Search {
  from: Date
  to: Date
  geometry: unknown
  /** As given, to be repeated in links. */
  filter: Json | null
  /** Upper limits of the product's parameters. */
  limits: Record<string, number>
}

export interface Page {
  page: number
  size: number
}

const SEARCH_FIELDS = ['datetime', 'geometry', 'filter']
export const OPPORTUNITY_FIELDS = [...SEARCH_FIELDS, 'limit', 'next']
export const ORDER_FIELDS = [...SEARCH_FIELDS, 'order_parameters']

/** A field that nobody reads could be a typing error in an order. `now` is the start of an interval without one. */
export function searchOf(body: Json, fields: readonly string[], now: Date): Search {
  const unknown = Object.keys(body).find((name) => !fields.includes(name))
  if (unknown !== undefined) {
    const meant = nearest(unknown, fields)
    throw invalidField(unknown.slice(0, 60), `is unknown; ${meant ? `did you mean '${meant}'?` : `use ${fields.join(', ')}`}`)
  }
  if (body['geometry'] === undefined) throw invalidField('geometry', 'is required: a GeoJSON Point, Polygon or MultiPolygon')
  const filter = body['filter'] ?? null
  if (filter !== null && (typeof filter !== 'object' || Array.isArray(filter))) throw invalidField('filter', 'must be CQL2 JSON')
  const isEmpty = filter === null || Object.keys(filter).length === 0
  return {
    ...windowOf(body['datetime'], now),
    geometry: body['geometry'],
    filter: isEmpty ? null : (filter as Json),
    limits: isEmpty ? {} : limitsOf(parseCql2(filter)),
  }
}

function windowOf(datetime: unknown, now: Date): { from: Date; to: Date } {
  if (typeof datetime !== 'string' || !datetime.includes('/')) throw invalidField('datetime', INTERVAL)
  const { from, to } = parseInterval(datetime, 'datetime', INTERVAL)
  const start = from ?? now
  const end = to ?? new Date(start.getTime() + DEFAULT_DAYS * DAY_MS)
  if (end <= start) throw invalidField('datetime', 'must end after it starts, and in the future')
  return { from: start, to: end }
}

const FILTER =
  `must combine upper limits of ${Object.keys(LIMITS).join(' and ')} with 'and', such as ` +
  `{"op": "<=", "args": [{"property": "eo:cloud_cover"}, 20]}`

/** Vendors accept upper limits only: a condition that they would ignore is rejected. */
function limitsOf(filter: Cql2): Record<string, number> {
  if (filter.op === 'and') {
    const limits: Record<string, number> = {}
    for (const [parameter, value] of filter.args.flatMap((arg) => Object.entries(limitsOf(arg))))
      limits[parameter] = Math.min(limits[parameter] ?? value, value)
    return limits
  }
  if (filter.op === 'compare' && filter.comparison === '<=') return limitOf(filter.property, filter.value)
  if (filter.op === 'between' && filter.low === 0) return limitOf(filter.property, filter.high)
  throw invalidField('filter', FILTER)
}

function limitOf(property: string, value: unknown): Record<string, number> {
  const limit = Object.hasOwn(LIMITS, property) ? LIMITS[property]! : null
  if (!limit || typeof value !== 'number') throw invalidField('filter', FILTER)
  return { [limit.parameter]: value }
}

const featuresOf = (geometry: unknown): Json => ({
  type: 'FeatureCollection',
  features: [{ type: 'Feature', properties: {}, geometry }],
})

export const opportunitiesInput = (product: string, { from, to, geometry, limits }: Search, { page, size }: Page): Json => ({
  dataProduct: product,
  featureCollection: featuresOf(geometry),
  params: { ...limits, acquisitionStart: from.toISOString(), acquisitionEnd: to.toISOString() },
  page,
  size,
})

export function orderInput(product: string, { from, to, geometry, limits }: Search, given: unknown): Json {
  if (given !== undefined && (typeof given !== 'object' || given === null || Array.isArray(given)))
    throw invalidField('order_parameters', 'must be an object')
  const { project_id, display_name, max_credits, license_type, ...params } = (given ?? {}) as Json
  if (project_id === undefined)
    throw invalidField('order_parameters.project_id', 'is required: the ID of the project that receives the imagery')
  const taken = Object.keys(params).find((name) => isMapped(name))
  if (taken !== undefined) throw invalidField(`order_parameters.${taken}`, 'is not an order parameter; use datetime or filter')
  return {
    projectId: project_id,
    ...(display_name === undefined ? {} : { displayName: display_name }),
    ...(max_credits === undefined ? {} : { maxCredits: max_credits }),
    ...(license_type === undefined ? {} : { licenseType: license_type }),
    groups: [
      {
        dataProduct: product,
        featureCollection: featuresOf(geometry),
        params: { ...params, ...limits, acquisitionStart: from.toISOString(), acquisitionEnd: to.toISOString() },
      },
    ],
  }
}

const isMapped = (name: string): boolean => isIn(WINDOW, name) || Object.values(LIMITS).some(({ parameter }) => parameter === name)

/** `limit` and `next` of a query or a body. `next` is a page number, which only links state. */
export function pageOf({ limit, next }: Json): Page {
  const size = limit ?? DEFAULT_LIMIT
  if (typeof size !== 'number' || !Number.isInteger(size) || size < 1) throw invalidField('limit', 'must be an integer of at least 1')
  const page = next ?? '0'
  if (typeof page !== 'string' || !/^\d{1,5}$/.test(page) || Number(page) > MAX_PAGE)
    throw invalidField('next', 'must be the value from a `next` link')
  return { page: Number(page), size: Math.min(size, MAX_LIMIT) }
}

const FIELDS: readonly (readonly [ours: RegExp, theirs: string])[] = [
  [/\b(?:groups\.0\.)?params\.acquisition(?:Start|End)\b/g, 'datetime'],
  ...Object.entries(LIMITS).map(
    ([property, { parameter }]) => [new RegExp(`\\b(?:groups\\.0\\.)?params\\.${parameter}\\b`, 'g'), `filter.${property}`] as const,
  ),
  [/\b(?:groups\.0\.)?params\b/g, 'order_parameters'],
  [/\b(?:groups\.0\.)?featureCollection(?:\.features\.0\.geometry)?\b/g, 'geometry'],
  [/\bgroups\.0(?:\.dataProduct)?\b/g, 'product'],
  [/\bprojectId\b/g, 'order_parameters.project_id'],
  [/\bdisplayName\b/g, 'order_parameters.display_name'],
  [/\bmaxCredits\b/g, 'order_parameters.max_credits'],
  [/\blicenseType\b/g, 'order_parameters.license_type'],
]

const renamed = (text: string): string => FIELDS.reduce((current, [ours, theirs]) => current.replace(ours, theirs), text)

/** A problem names the fields that the client sent. */
export function problemOf(document: Json): Json {
  const errors = document['errors']
  return {
    ...document,
    detail: renamed(String(document['detail'] ?? '')),
    ...(Array.isArray(errors)
      ? {
          errors: (errors as Json[]).map((error) => ({
            ...error,
            field: renamed(String(error['field'])),
            message: renamed(String(error['message'])),
          })),
        }
      : {}),
  }
}
