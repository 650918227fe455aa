/** Granules of surface heights along the ground tracks of a fictional constellation: found by place and day, computed when read. */
import type { Position } from '#core/geometry.ts'
import { DAY_MS } from '#core/time.ts'
import { chance, levelLimit, points, toU, toV } from '../scenes/noise.ts'
import { createTerrain, ground } from '../scenes/terrain.ts'
import type { PlanPlace } from '../scenes/index.ts'

export interface Granule {
  readonly id: string
  readonly datetime: string
  readonly endDatetime: string
  readonly line: Position[]
  readonly bbox: readonly [number, number, number, number]
}

/** Tracks per day; the first starts at another longitude every day. */
const TRACKS = 720
const TRACK_DEGREES = 360 / TRACKS
const SEGMENT_DEGREES = 10
const LAST_LATITUDE = 80
const SEGMENTS = (2 * LAST_LATITUDE) / SEGMENT_DEGREES
/** Inclination of a track: degrees of longitude per degree of latitude. */
const LEAN = -0.09
const SPEED_DEGREES_PER_SECOND = 0.0625
const POINT_DEGREES = 0.0045
const BEAMS = [-0.03, 0, 0.03]
const NOISE_M = 0.25
const TERRAIN_GSD_M = 30
const GOLDEN = 0.618_033_988_75
const ID = /^sandbox-altimetry_(\d{4})(\d{2})(\d{2})_t(\d{1,3})s(\d{1,2})$/
const MAX_GRANULES = 100_000

const dayStart = (day: number): number => -180 + ((day * GOLDEN) % 1) * TRACK_DEGREES
const wrap = (longitude: number): number => ((((longitude + 180) % 360) + 360) % 360) - 180
const longitudeOf = (day: number, track: number, latitude: number): number => dayStart(day) + track * TRACK_DEGREES + LEAN * latitude

function granule(day: number, track: number, segment: number): Granule {
  const south = -LAST_LATITUDE + segment * SEGMENT_DEGREES
  const startMs =
    day * DAY_MS +
    Math.floor(((track + 0.5) / TRACKS) * (DAY_MS - 3_600_000)) +
    segment * (SEGMENT_DEGREES / SPEED_DEGREES_PER_SECOND) * 1000
  const date = new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '')
  const west = wrap(longitudeOf(day, track, south))
  // A track spans less than a degree, so only its end can cross the antimeridian; it is then clamped.
  const end = Math.max(-180, west + LEAN * SEGMENT_DEGREES)
  return {
    id: `sandbox-altimetry_${date}_t${track}s${segment}`,
    datetime: new Date(startMs).toISOString(),
    endDatetime: new Date(startMs + (SEGMENT_DEGREES / SPEED_DEGREES_PER_SECOND) * 1000).toISOString(),
    line: [
      [west, south],
      [end, south + SEGMENT_DEGREES],
    ],
    bbox: [Math.min(west, end) + BEAMS[0]!, south, Math.max(west, end) + BEAMS[2]!, south + SEGMENT_DEGREES],
  }
}

/** Null: no such granule. */
export function granuleOf(id: string): Granule | null {
  const [, year, month, date, track, segment] = ID.exec(id) ?? []
  if (segment === undefined || Number(track) >= TRACKS || Number(segment) >= SEGMENTS) return null
  const candidate = granule(Date.UTC(Number(year), Number(month) - 1, Number(date)) / DAY_MS, Number(track), Number(segment))
  return candidate.id === id ? candidate : null
}

type Box = readonly [number, number, number, number]

const touches = ([west, south, east, north]: Box, [w, s, e, n]: Box): boolean =>
  s <= north && n >= south && (west <= east ? w <= east && e >= west : w <= east || e >= west)

/** Newest day first; those whose bounding box touches the requested one. */
export function* granulesFor(
  { bbox, fromMs, toMs }: { bbox: Box; fromMs: number; toMs: number },
  after?: PlanPlace,
): Generator<{ granule: Granule; place: PlanPlace }> {
  const lastDay = Math.floor(toMs / DAY_MS)
  let steps = 0
  for (let day = Math.min(lastDay, after?.day ?? lastDay); day >= Math.floor(fromMs / DAY_MS); day--) {
    let cells = 0
    for (let segment = 0; segment < SEGMENTS; segment++) {
      const south = -LAST_LATITUDE + segment * SEGMENT_DEGREES
      if (south > bbox[3] || south + SEGMENT_DEGREES < bbox[1]) continue
      for (const track of tracksNear(day, south, bbox)) {
        if (++steps > MAX_GRANULES) return
        if (++cells <= (day === after?.day ? after.cells : 0)) continue
        const candidate = granule(day, track, segment)
        const ms = Date.parse(candidate.datetime)
        if (ms <= toMs && ms >= fromMs && touches(bbox, candidate.bbox)) yield { granule: candidate, place: { day, cells } }
      }
    }
  }
}

function tracksNear(day: number, south: number, [west, , east]: Box): number[] {
  const width = west <= east ? east - west : east + 360 - west
  const margin = 1 + Math.abs(LEAN) * SEGMENT_DEGREES
  const first = Math.floor((west - margin - longitudeOf(day, 0, south)) / TRACK_DEGREES)
  const count = Math.min(TRACKS, Math.ceil((width + 2 * margin) / TRACK_DEGREES) + 1)
  return Array.from({ length: count }, (_, k) => (((first + k) % TRACKS) + TRACKS) % TRACKS)
}

/** Lines of GeoJSON points, in batches. */
export function* granuleLines({ id, datetime, line }: Granule): Generator<string> {
  const [[west, south], [east]] = line as [Position, Position]
  const count = Math.floor(SEGMENT_DEGREES / POINT_DEGREES)
  const startMs = Date.parse(datetime)
  const chunk = 200
  const terrain = createTerrain(chunk, levelLimit(TERRAIN_GSD_M, south))
  const at = points(chunk)
  const sample = ground(chunk)
  for (const [beam, offset] of BEAMS.entries()) {
    for (let from = 0; from < count; from += chunk) {
      const size = Math.min(chunk, count - from)
      const place = (i: number): Position => {
        const latitude = south + (from + i) * POINT_DEGREES
        return [west + ((east - west) * (from + i)) / count + offset, latitude]
      }
      at.count = size
      for (let i = 0; i < size; i++) {
        const [longitude, latitude] = place(i)
        at.u[i] = toU(longitude)
        at.v[i] = toV(latitude)
      }
      terrain.read(sample, at)
      let text = ''
      for (let i = 0; i < size; i++) {
        const [longitude, latitude] = place(i)
        const surface = sample.coast[i]! > 0 ? sample.heightM[i]! : 0
        const height = surface + (chance(from + i, beam, id.length + south) - 0.5) * 2 * NOISE_M
        const seconds = ((from + i) * POINT_DEGREES) / SPEED_DEGREES_PER_SECOND
        text += `${JSON.stringify({
          type: 'Feature',
          geometry: { type: 'Point', coordinates: [round(longitude, 6), round(latitude, 6), round(height, 2)] },
          properties: { height: round(height, 2), time: new Date(startMs + seconds * 1000).toISOString(), beam: beam + 1 },
        })}\n`
      }
      yield text
    }
  }
}

const round = (value: number, decimals: number): number => Math.round(value * 10 ** decimals) / 10 ** decimals
