/** The body of a STAC item search, as the hosts support it. */
import type { AreaGeometry } from '#core/geometry.ts'
import type { PlanPlace } from '../scenes/index.ts'
import type { LibraryQuery } from './library.ts'

/** Answered with 400. */
export class Refusal extends Error {
  readonly status: number
  constructor(message: string, status = 400) {
    super(message)
    this.status = status
  }
}

const MAX_LIMIT = 500
const DEFAULT_LIMIT = 10

export interface SearchBody {
  collections?: unknown
  ids?: unknown
  datetime?: unknown
  bbox?: unknown
  intersects?: unknown
  query?: unknown
  limit?: unknown
  token?: unknown
}

export interface ParsedSearch extends LibraryQuery {
  readonly collections: readonly string[] | null
}

export function parseSearch(body: SearchBody): ParsedSearch {
  const limit = body.limit === undefined ? DEFAULT_LIMIT : Number(body.limit)
  if (!Number.isInteger(limit) || limit < 1) throw new Refusal('limit must be a positive integer')
  return {
    collections: texts(body.collections, 'collections'),
    ...datesOf(body.datetime),
    ...(body.ids === undefined ? {} : { ids: texts(body.ids, 'ids') ?? [] }),
    ...(body.bbox === undefined ? {} : { bbox: boxOf(body.bbox) }),
    ...(body.intersects === undefined ? {} : { intersects: areaOf(body.intersects) }),
    ...(typeof body.token === 'string' ? { after: placeOf(body.token) } : {}),
    accepts: cloudTest(body.query),
    limit: Math.min(limit, MAX_LIMIT),
  }
}

function texts(value: unknown, name: string): string[] | null {
  if (value === undefined) return null
  if (!Array.isArray(value) || value.some((each) => typeof each !== 'string')) throw new Refusal(`${name} must be a list of strings`)
  return value as string[]
}

function datesOf(value: unknown): { from: Date | null; to: Date | null } {
  if (value === undefined) return { from: null, to: null }
  const [start = '', end = start] = String(value).split('/')
  const read = (text: string) => (text === '..' || text === '' ? null : new Date(text))
  const dates = { from: read(start), to: read(end) }
  if ([dates.from, dates.to].some((date) => date && Number.isNaN(date.getTime()))) throw new Refusal('Invalid datetime')
  return dates
}

function boxOf(value: unknown): [number, number, number, number] {
  if (!Array.isArray(value) || value.length !== 4 || value.some((each) => typeof each !== 'number'))
    throw new Refusal('bbox must be four numbers')
  return value as [number, number, number, number]
}

export function areaOf(value: unknown): AreaGeometry {
  const { type, coordinates } = (value ?? {}) as { type?: unknown; coordinates?: unknown }
  if ((type !== 'Polygon' && type !== 'MultiPolygon') || !Array.isArray(coordinates))
    throw new Refusal('The geometry must be a Polygon or MultiPolygon')
  return value as AreaGeometry
}

const TESTS: Readonly<Record<string, (cover: number, limit: number) => boolean>> = {
  lt: (cover, limit) => cover < limit,
  lte: (cover, limit) => cover <= limit,
  gt: (cover, limit) => cover > limit,
  gte: (cover, limit) => cover >= limit,
}

/** Of the query extension, only `eo:cloud_cover` is supported. */
function cloudTest(query: unknown): (cover: number | null) => boolean {
  if (query === undefined || query === null) return () => true
  const { 'eo:cloud_cover': cloudCover, ...rest } = query as Record<string, Record<string, number>>
  if (Object.keys(rest).length > 0) throw new Refusal(`query does not support ${Object.keys(rest)[0]}`)
  const tests = Object.entries(cloudCover ?? {}).map(([name, limit]) => {
    const test = Object.hasOwn(TESTS, name) ? TESTS[name] : undefined
    if (!test || typeof limit !== 'number') throw new Refusal(`query has no operator ${name}`)
    return (cover: number) => test(cover, limit)
  })
  return (cover) => cover !== null && tests.every((test) => test(cover))
}

function placeOf(token: string): PlanPlace {
  const [, day, cells] = /^(\d{1,6})-(\d{1,9})$/.exec(token) ?? []
  if (cells === undefined) throw new Refusal('Invalid token')
  return { day: Number(day), cells: Number(cells) }
}

export const tokenOf = ({ day, cells }: PlanPlace): string => `${day}-${cells}`
