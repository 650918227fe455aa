/**
 * What is sent to a STAPI server, and how an order is recognized as ours. The standard has no reference of the customer, so that the
 * milliseconds of the window are our handle: they are derived from the reference and move each end by less than a second.
 */
import { createHash } from 'node:crypto'
import { centreOf, polygonsOf } from '#core/area.ts'
import type { AreaGeometry } from '#core/geometry.ts'
import type { TaskingRequest } from '#ports/vendors/tasking.ts'
import type { Order } from './wire.ts'

type Json = Readonly<Record<string, unknown>>
type Shape = TaskingRequest['area']

const SECOND_MS = 1_000
/** The clocks of the server and ours can differ. */
const LOOK_BACK_MS = 60 * 60_000
/** About a centimetre. */
const DECIMALS = 7

/** Parameters that are upper limits of a property. All others are order parameters. */
const LIMITS: Readonly<Record<string, string>> = { cloudCoverage: 'eo:cloud_cover', maxOffNadirAngle: 'view:off_nadir' }

export interface Window {
  readonly from: Date
  readonly to: Date
}

export const intervalOf = ({ from, to }: Window): string => `${from.toISOString()}/${to.toISOString()}`

/** The window within the requested one whose milliseconds are the handle of the reference. */
export function windowOf(params: Json, reference: string): Window | null {
  const [from, to] = [Date.parse(String(params['acquisitionStart'])), Date.parse(String(params['acquisitionEnd']))]
  if (Number.isNaN(from) || Number.isNaN(to) || to <= from) return null
  const digest = createHash('sha256').update(reference).digest()
  const second = (ms: number) => Math.floor(ms / SECOND_MS) * SECOND_MS
  const start = second(from) + (digest.readUInt32BE(0) % SECOND_MS)
  const end = second(to) - SECOND_MS + (digest.readUInt32BE(4) % SECOND_MS)
  return { from: new Date(start), to: new Date(end) }
}

/** Null without a condition. */
export function filterOf(params: Json): Json | null {
  const limits = Object.entries(LIMITS).flatMap(([name, property]) =>
    typeof params[name] === 'number' ? [{ op: '<=', args: [{ property }, params[name]] }] : [],
  )
  const own = params['filter']
  const conditions = [...limits, ...(typeof own === 'object' && own !== null ? [own as Json] : [])]
  return conditions.length > 1 ? { op: 'and', args: conditions } : (conditions[0] ?? null)
}

const MAPPED: readonly string[] = ['acquisitionStart', 'acquisitionEnd', 'filter', ...Object.keys(LIMITS)]
export const orderParametersOf = (params: Json): Json =>
  Object.fromEntries(Object.entries(params).filter(([name]) => !MAPPED.includes(name)))

const classOf = (type: string): string => `https://geojson.org/schema/${type}.json`

/** The area in a geometry type that the product accepts: the centre if it accepts points only. Null: it accepts none of them. */
export function geometryFor(area: Shape, conformsTo: readonly string[]): Shape | null {
  const accepts = (type: string) => conformsTo.includes(classOf(type))
  const [single, second] = area.type === 'Point' ? [] : polygonsOf(area)
  if (area.type !== 'Point' && single && !second && accepts('Polygon')) return { type: 'Polygon', coordinates: single as never }
  if (area.type !== 'Point' && accepts('MultiPolygon')) return asMulti(area)
  if (!accepts('Point')) return null
  if (area.type === 'Point') return area
  // Several areas have no common centre.
  return second ? null : { type: 'Point', coordinates: centreOf(area) }
}

const asMulti = (area: AreaGeometry): AreaGeometry => ({ type: 'MultiPolygon', coordinates: polygonsOf(area) as never })

/** The order that is looked for, or placed. */
export interface Wanted {
  readonly product: string
  readonly geometry: Shape
  readonly window: Window
  readonly createdAt: Date
}

/**
 * `ours`: the handle is in its window; `unclear`: the server dropped the milliseconds, so that it could be another order of the same;
 * `other`.
 */
export function recognize({ geometry, properties }: Order, wanted: Wanted): 'ours' | 'unclear' | 'other' {
  const { product_id: product, created, search_parameters: search } = properties
  const [from, to] = search.datetime.split('/').map((text) => Date.parse(text)) as [number, number]
  const [start, end] = [wanted.window.from.getTime(), wanted.window.to.getTime()]
  const isNear = Math.abs(from - start) < SECOND_MS && Math.abs(to - end) < SECOND_MS
  const isRecent = Date.parse(created) >= wanted.createdAt.getTime() - LOOK_BACK_MS
  if (product !== wanted.product || !isNear || !isRecent || !isSame(geometry, wanted.geometry)) return 'other'
  if (from === start && to === end) return 'ours'
  return from % SECOND_MS === 0 && to % SECOND_MS === 0 ? 'unclear' : 'other'
}

const isSame = (a: Order['geometry'], b: Shape): boolean => a.type === b.type && textOf(a.coordinates) === textOf(b.coordinates)

const textOf = (coordinates: unknown): string =>
  JSON.stringify(coordinates, (_name, value: unknown) => (typeof value === 'number' ? value.toFixed(DECIMALS) : value))
