/**
 * The acquisition plan of the sensors: fixed cells over the whole Earth, each acquired once per revisit period. A scene's id
 * contains its sensor, day and cell, so that the scene can be described from the id alone.
 */
import { DAY_MS } from '#core/time.ts'
import { describeScene, type SceneDescription } from './describe.ts'
import type { Bbox } from './footprint.ts'
import { chance, hashText } from './noise.ts'
import { SENSORS, type Sensor, type SensorId } from './sensors.ts'
import { sunAt } from './sun.ts'

export interface SceneQuery {
  readonly sensor: SensorId
  /** West can be greater than east: the box then crosses the antimeridian. Default: the whole Earth. */
  readonly bbox?: Bbox
  /** Required unless ids are given: the plan has no end and does not know the present. */
  readonly from?: string | Date
  readonly to?: string | Date
  readonly limit?: number
  /** Number of scenes to skip, for pages. */
  readonly offset?: number
  /** Only these; unknown ids are skipped. */
  readonly ids?: readonly string[]
}

const DEGREE_M = 111_320
/** Nothing is acquired beyond; UTM ends there too. */
const MAX_LATITUDE = 83.5
/** Optical sensors acquire no night images. */
const MIN_SUN_DEG = 3
/** UTM north and true north differ by a few degrees: cells are so small that a footprint always covers its cell. */
const ASKEW_DEG = 5
const MAX_SCENES = 10_000
const MAX_STEPS = 2_000_000
const DEFAULT_LIMIT = 100
const ID = /^(sandbox-[a-z]+)_(\d{4})(\d{2})(\d{2})_r(\d+)c(\d+)$/

interface Cell {
  readonly row: number
  readonly column: number
}

/** Scenes from newest to oldest. For an archive, `to` must not be in the future. */
export function scenesFor(query: SceneQuery): SceneDescription[] {
  const { limit = DEFAULT_LIMIT, offset = 0 } = query
  if (!query.ids && (query.from === undefined || query.to === undefined)) throw new RangeError('A scene search needs dates or ids')
  const maxScenes = Math.min(limit, MAX_SCENES)
  const scenes: SceneDescription[] = []
  let index = 0
  for (const { acquisition } of acquisitionsFor(query)) {
    if (scenes.length >= maxScenes) break
    if (index++ >= offset) scenes.push(describeScene(acquisition))
  }
  return scenes
}

interface Acquisition {
  readonly sensor: SensorId
  readonly id: string
  readonly longitude: number
  readonly latitude: number
  readonly datetime: Date
}

/** A position in the plan: the day, and how many of its cells were passed. */
export interface PlanPlace {
  readonly day: number
  readonly cells: number
}

/** The acquisitions, each with the position after it. Descriptions, which cost more, are not computed here. */
export function* acquisitionsFor(query: SceneQuery, after?: PlanPlace): Generator<{ acquisition: Acquisition; place: PlanPlace }> {
  if (!query.ids) return yield* planned(query, after)
  let cells = 0
  for (const acquisition of byIds(query, query.ids)) if (++cells > (after?.cells ?? 0)) yield { acquisition, place: { day: 0, cells } }
}

function* planned(query: SceneQuery, after?: PlanPlace): Generator<{ acquisition: Acquisition; place: PlanPlace }> {
  const sensor = SENSORS[query.sensor]
  const { fromMs, toMs } = spanOf(query)
  const firstDay = Math.floor(fromMs / DAY_MS / sensor.revisitDays) * sensor.revisitDays
  let steps = 0
  const lastDay = Math.floor(toMs / DAY_MS / sensor.revisitDays) * sensor.revisitDays
  for (let day = Math.min(lastDay, after?.day ?? lastDay); day >= firstDay; day -= sensor.revisitDays) {
    let cells = 0
    for (const cell of cellsIn(sensor, query.bbox ?? [-180, -90, 180, 90])) {
      if (++steps > MAX_STEPS) return
      if (++cells <= (day === after?.day ? after.cells : 0)) continue
      const candidate = acquisition(sensor, day, cell)
      if (candidate && isWithin(sensor, candidate, fromMs, toMs)) yield { acquisition: candidate, place: { day, cells } }
    }
  }
}

function* byIds(query: SceneQuery, ids: readonly string[]): Generator<Acquisition> {
  const sensor = SENSORS[query.sensor]
  const { fromMs, toMs } = spanOf(query)
  for (const id of new Set(ids)) {
    const candidate = acquisitionOf(id)
    if (!candidate || candidate.sensor !== sensor.id) continue
    if ((query.from || query.to) && !isWithin(sensor, candidate, fromMs, toMs)) continue
    if (query.bbox && !touches(query.bbox, candidate, cellDegrees(sensor))) continue
    yield candidate
  }
}

/** The acquisition that an id names, or null. */
export function acquisitionOf(id: string): Acquisition | null {
  const [, name = '', year, month, date, row, column] = ID.exec(id) ?? []
  if (!Object.hasOwn(SENSORS, name)) return null
  const sensor = SENSORS[name as SensorId]
  const day = Date.UTC(Number(year), Number(month) - 1, Number(date)) / DAY_MS
  const cell = { row: Number(row), column: Number(column) }
  if (cell.row >= rowCount(sensor) || cell.column >= columnCount(sensor, cell.row) || day % sensor.revisitDays !== 0) return null
  const candidate = acquisition(sensor, day, cell)
  return candidate?.id === id ? candidate : null
}

function spanOf({ from, to }: SceneQuery): { fromMs: number; toMs: number } {
  const toMs = to === undefined ? Date.UTC(2100, 0, 1) : new Date(to).getTime()
  const fromMs = from === undefined ? Date.UTC(2000, 0, 1) : new Date(from).getTime()
  if (!Number.isFinite(toMs) || !Number.isFinite(fromMs)) throw new RangeError('Invalid dates')
  return { fromMs, toMs }
}

/** Elevation is valid for its whole edition, so any date in it matches. */
function isWithin(sensor: Sensor, { datetime }: Acquisition, fromMs: number, toMs: number): boolean {
  const lastMs = datetime.getTime() + (sensor.kind === 'elevation' ? sensor.revisitDays * DAY_MS - 1 : 0)
  return datetime.getTime() <= toMs && lastMs >= fromMs
}

/** The side of a cell, such that the rotated footprint covers it. */
function cellDegrees({ sizePx, gsdM, trackDeg, kind }: Sensor): number {
  const angle = ((kind === 'optical' ? trackDeg + ASKEW_DEG : ASKEW_DEG) * Math.PI) / 180
  return ((sizePx * gsdM) / (Math.cos(angle) + Math.sin(angle)) ** 2 / DEGREE_M) * 0.97
}

const rowCount = (sensor: Sensor): number => Math.ceil((2 * MAX_LATITUDE) / cellDegrees(sensor))
const rowHeight = (sensor: Sensor): number => (2 * MAX_LATITUDE) / rowCount(sensor)

/** Fewer columns towards the poles: a cell is at most as wide on the ground as it is high. */
function columnCount(sensor: Sensor, row: number): number {
  const south = -MAX_LATITUDE + row * rowHeight(sensor)
  const widest = Math.max(
    0,
    south <= 0 && south + rowHeight(sensor) >= 0 ? 0 : Math.min(Math.abs(south), Math.abs(south + rowHeight(sensor))),
  )
  return Math.ceil((360 * Math.cos((widest * Math.PI) / 180)) / cellDegrees(sensor))
}

function* cellsIn(sensor: Sensor, [west, south, east, north]: Bbox): Generator<Cell> {
  const height = rowHeight(sensor)
  const first = Math.max(0, Math.floor((south + MAX_LATITUDE) / height))
  const last = Math.min(rowCount(sensor) - 1, Math.floor((north + MAX_LATITUDE) / height))
  for (let row = first; row <= last; row++) {
    const columns = columnCount(sensor, row)
    const toColumn = (longitude: number): number => Math.floor(((longitude + 180) / 360) * columns)
    const from = toColumn(west)
    const to = toColumn(east) + (west > east ? columns : 0)
    for (let column = from; column <= Math.min(to, from + columns - 1); column++)
      yield { row, column: ((column % columns) + columns) % columns }
  }
}

function acquisition(sensor: Sensor, day: number, { row, column }: Cell): Acquisition | null {
  const date = new Date(day * DAY_MS)
  const id = `${sensor.id}_${date.toISOString().slice(0, 10).replaceAll('-', '')}_r${row}c${column}`
  const longitude = -180 + ((column + 0.5) * 360) / columnCount(sensor, row)
  const latitude = -MAX_LATITUDE + (row + 0.5) * rowHeight(sensor)
  if (sensor.kind === 'elevation') return { sensor: sensor.id, id, longitude, latitude, datetime: date }
  // Neighbours in one pass are acquired within minutes, so the time depends only on the day and on a wide stripe.
  const stripe = Math.floor((longitude + 180) / 3)
  const spread = (chance(day, stripe, hashText(sensor.id)) - 0.5) * sensor.solarSpreadHours
  const hour = (((sensor.solarHour + spread - longitude / 15) % 24) + 24) % 24
  const datetime = new Date(day * DAY_MS + Math.floor(hour * 3600) * 1000)
  if (sunAt(longitude, latitude, datetime.getTime()).elevationDeg < MIN_SUN_DEG) return null
  return { sensor: sensor.id, id, longitude, latitude, datetime }
}

function touches([west, south, east, north]: Bbox, { longitude, latitude }: Acquisition, sideDegrees: number): boolean {
  const reach = sideDegrees / 2
  const reachX = reach / Math.cos((latitude * Math.PI) / 180)
  const isBetween =
    west <= east ? longitude >= west - reachX && longitude <= east + reachX : longitude >= west - reachX || longitude <= east + reachX
  return isBetween && latitude >= south - reach && latitude <= north + reach
}
