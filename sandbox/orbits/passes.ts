/** Predicts daylight passes of satellites over a place: SGP4 propagates the orbits, and the smallest angle of each pass is searched for. */
import { setImmediate } from 'node:timers/promises'
import { ecfToLookAngles, eciToEcf, geodeticToEcf, gstime, propagate, twoline2satrec, type SatRec } from 'satellite.js'
import type { Position } from '#core/geometry.ts'
import { DAY_MS, MINUTE_MS } from '#core/time.ts'
import { sunAt } from '../scenes/sun.ts'
import type { Satellite } from './satellites.ts'

/** A satellite that passes near enough is above the horizon for at least ten minutes, so this step misses none. */
const STEP_MS = 3 * MINUTE_MS
/** Precision: a tenth of a second. */
const PRECISION_MS = 100
/** Optical images need daylight. */
const MIN_SUN_DEG = 15
const STANDARD_OFF_NADIR_DEG = 30
/** Yields to the event loop after this long. */
const SLICE_MS = DAY_MS

interface Pass {
  satellite: string
  noradId: number
  start: string
  end: string
  offNadirDeg: number
  sunElevationDeg: number
}

interface Question {
  place: Position
  from: Date
  to: Date
  maxOffNadirDeg?: number
  limit: number
}

/** Earliest first. */
export async function passesOver(satellites: readonly Satellite[], { place, from, to, maxOffNadirDeg, limit }: Question): Promise<Pass[]> {
  const widest = maxOffNadirDeg ?? STANDARD_OFF_NADIR_DEG
  const watched = satellites.map((satellite) => ({ satellite, orbit: twoline2satrec(...satellite.elements) }))
  const passes: Pass[] = []
  for (let start = from.getTime(); start < to.getTime() && passes.length < limit; start += SLICE_MS) {
    await setImmediate()
    const end = Math.min(to.getTime(), start + SLICE_MS)
    const today = watched.flatMap(({ satellite, orbit }) => passesOf(satellite, viewFrom(place, orbit), { place, start, end, widest }))
    passes.push(...today.toSorted((a, b) => a.start.localeCompare(b.start)))
  }
  return passes.slice(0, limit)
}

interface Span {
  place: Position
  start: number
  end: number
  widest: number
}

function passesOf({ name, noradId }: Satellite, view: View, { place, start, end, widest }: Span): Pass[] {
  const passes: Pass[] = []
  let [before, now] = [view(start - STEP_MS), view(start)]
  for (let time = start; time < end; time += STEP_MS) {
    const after = view(time + STEP_MS)
    if (now.elevationDeg > 0 && now.elevationDeg >= before.elevationDeg && now.elevationDeg > after.elevationDeg) {
      const peak = highest(view, time - STEP_MS, time + STEP_MS)
      const offNadirDeg = view(peak).offNadirDeg
      const { elevationDeg: sunElevationDeg } = sunAt(place[0], place[1], peak)
      if (offNadirDeg <= widest && sunElevationDeg >= MIN_SUN_DEG)
        passes.push({
          satellite: name,
          noradId,
          start: new Date(edge(view, peak, peak - 5 * STEP_MS, widest)).toISOString(),
          end: new Date(edge(view, peak, peak + 5 * STEP_MS, widest)).toISOString(),
          offNadirDeg: Math.round(offNadirDeg * 100) / 100,
          sunElevationDeg: Math.round(sunElevationDeg * 100) / 100,
        })
    }
    ;[before, now] = [now, after]
  }
  return passes
}

interface Seen {
  /** Elevation of the satellite above the horizon. */
  elevationDeg: number
  /** Angle of the place from the satellite's nadir. */
  offNadirDeg: number
}
type View = (timeMs: number) => Seen

const radians = (degrees: number) => (degrees * Math.PI) / 180
const degrees = (angle: number) => (angle * 180) / Math.PI

function viewFrom([longitude, latitude]: Position, orbit: SatRec): View {
  const observer = { longitude: radians(longitude), latitude: radians(latitude), height: 0 }
  const ground = geodeticToEcf(observer)
  return (timeMs) => {
    const date = new Date(timeMs)
    const state = propagate(orbit, date)
    if (!state) throw new Error(`cannot propagate the orbit of ${orbit.satnum} to ${date.toISOString()}`)
    const satellite = eciToEcf(state.position, gstime(date))
    const toGround = [ground.x - satellite.x, ground.y - satellite.y, ground.z - satellite.z] as const
    const cosine =
      -(satellite.x * toGround[0] + satellite.y * toGround[1] + satellite.z * toGround[2]) /
      (Math.hypot(satellite.x, satellite.y, satellite.z) * Math.hypot(...toGround))
    return { elevationDeg: degrees(ecfToLookAngles(observer, satellite).elevation), offNadirDeg: degrees(Math.acos(Math.min(1, cosine))) }
  }
}

const GOLDEN = (Math.sqrt(5) - 1) / 2

/** The minimum between two times, by golden-section search. */
function highest(view: View, low: number, high: number): number {
  let [a, b] = [low, high]
  while (b - a > PRECISION_MS) {
    const [left, right] = [b - GOLDEN * (b - a), a + GOLDEN * (b - a)]
    if (view(left).elevationDeg > view(right).elevationDeg) b = right
    else a = left
  }
  return Math.round((a + b) / 2)
}

/** The time at which the angle becomes too wide, by bisection; `outside` is beyond it. */
function edge(view: View, inside: number, outside: number, widest: number): number {
  let [good, bad] = [inside, outside]
  while (Math.abs(bad - good) > PRECISION_MS) {
    const middle = (good + bad) / 2
    if (view(middle).offNadirDeg <= widest && view(middle).elevationDeg > 0) good = middle
    else bad = middle
  }
  return Math.round(good)
}
