/** How one row of the table is found: the projection as PROJ writes it, and the datum shift that is nearest to what PROJ does. */
import type { Point, Proj, Shift, SystemInfo } from './proj.ts'

const TOLERANCE_M = 1
const METRES_A_DEGREE = 111_320
const TIE_M = 1e-6
const LATITUDE_LIMIT = 89.5
const EPSG_WGS84 = 'EPSG:4326'

type Area = readonly [west: number, south: number, east: number, north: number]

/** Datums that reach over a continent are judged where their most used shift belongs: NAD 27 in the 48 states, Krovak in Czechia. */
const AREAS: ReadonlyMap<number, Area> = new Map([
  [4267, [-120, 27, -70, 48]],
  [4156, [12.5, 48.7, 18.5, 50.9]],
  [5514, [12.5, 48.7, 18.5, 50.9]],
])
const AREA_UNKNOWN: Area = [-60, -45, 60, 45]

/** The mean shift of the 48 states, which is what NAD 27 without a zone means to most. */
const PREFERRED: ReadonlyMap<number, string> = new Map([[4267, '-8,160,176']])

/**
 * Shifts that an older registry gave (PROJ 9.1) and a newer one has replaced or moved to another datum. Items were placed by them,
 * so they stay until somebody decides otherwise for each: Quebec is now on a version of its datum that has no shift at all.
 */
const KEPT: ReadonlyMap<number, string> = new Map([
  [3908, '551.7,162.9,467.9,6.04,1.96,-11.38,-4.82'],
  [6622, '-0.991,1.9072,0.5129,0.02578990752,0.00965009896,0.01165994323,0'],
  [6624, '-0.991,1.9072,0.5129,0.02578990752,0.00965009896,0.01165994323,0'],
  [30791, '-209.3622,-87.8162,404.6198,0.0046,3.4784,0.5805,-1.4547'],
  [30792, '-209.3622,-87.8162,404.6198,0.0046,3.4784,0.5805,-1.4547'],
  [32029, '-8,159,175'],
])
const KEPT_ACCURACY_M = 10

/**
 * Equidistant cylindrical systems. proj4 computes them on a sphere, as PROJ did before 9.8; PROJ 9.8 follows the ellipsoid, and
 * its northings at 27° are 18 km smaller. The tables keep what the library draws, and the control points say the same.
 */
const SPHERICAL: ReadonlySet<number> = new Set([4087, 32662])
const SPHERE = '+R=6378137'
const SPHERICAL_ACCURACY_M = 25_000

/** Spheres and the ellipsoid of old sea ice grids, whose geographic coordinates are meant as they are. */
const UNSHIFTED: ReadonlySet<number> = new Set([4047, 4052, 4053, 4054])

const ELLIPSOID_OF_DATUM: Readonly<Record<string, string>> = { WGS84: 'WGS84', NAD83: 'GRS80', NAD27: 'clrk66' }

/** proj4 has another WGS 72 than PROJ. */
const FIGURES: Readonly<Record<string, string>> = { '+ellps=WGS72': '+a=6378135 +rf=298.26' }

const UNITS: Readonly<Record<string, number>> = { m: 1, 'us-ft': 1200 / 3937, ft: 0.3048, km: 1000 }

/** A geographic point, PROJ's x and y of it, and what PROJ makes of these on the way back. */
export type ControlPoint = [lon: number, lat: number, x: number, y: number, lonBack: number, latBack: number]

interface Chosen {
  projection: string
  figure: string
  control: ControlPoint[]
}

/** The parts of a proj4 text that the tables keep. */
export function clean(proj4: string): string {
  return proj4.replaceAll(/\s*\+(no_defs|type=crs|wktext|towgs84=\S+|vunits=\S+|geoidgrids=\S+)/g, '').trim()
}

/** The parts that describe the figure of the Earth, and the rest. */
function split(proj4: string): { figure: string[]; rest: string[] } {
  const parts = proj4.split(/\s+/)
  const isFigure = (part: string) => /^\+(datum|ellps|a|b|rf|R|pm)=/.test(part)
  return { figure: parts.filter(isFigure), rest: parts.filter((part) => !isFigure(part)) }
}

/** Metres in a unit of the system; null for a unit that proj4 does not know. */
function metresAUnit(proj4: string): number | null {
  if (/\+proj=longlat/.test(proj4)) return METRES_A_DEGREE
  const named = /\+units=(\S+)/.exec(proj4)?.[1]
  if (named) return UNITS[named] ?? null
  return Number(/\+to_meter=(\S+)/.exec(proj4)?.[1] ?? 1)
}

export function controlPlaces(code: number, info: SystemInfo): Point[] {
  const [west, south, east, north] = AREAS.get(code) ?? areaOf(info)
  const bottom = Math.max(south, -LATITUDE_LIMIT)
  const top = Math.min(north, LATITUDE_LIMIT)
  const wrap = (lon: number) => (lon > 180 ? lon - 360 : lon)
  return [[0.5, 0.5] as const, [0.3, 0.35] as const, [0.7, 0.65] as const].map(([x, y]): Point => [
    round(wrap(west + (east - west) * x), 4),
    round(bottom + (top - bottom) * y, 4),
  ])
}

function areaOf(info: SystemInfo): Area {
  const box = info.bbox ?? info.usages?.[0]?.bbox
  if (!box) return AREA_UNKNOWN
  const east = box.east_longitude < box.west_longitude ? box.east_longitude + 360 : box.east_longitude
  return [box.west_longitude, box.south_latitude, east, box.north_latitude]
}

function baseCode(info: SystemInfo): number | null {
  let base = info.base_crs ?? info.source_crs?.base_crs ?? info
  while (!base.id && base.base_crs) base = base.base_crs
  return base.id?.code ?? null
}

export function round(value: number, digits: number): number {
  return Number(value.toFixed(digits))
}

/** A published shift as the three or seven numbers of `towgs84`; null for one that has no such form. */
function helmert({ name, pipeline }: Shift): string | null {
  const steps = [...pipeline.matchAll(/\+step (\+inv )?\+proj=helmert ([^+]*(?:\+(?!step)[^+]*)*)/g)]
  const single = /^\+proj=helmert (.*)$/.exec(pipeline)
  if (name.includes('Ballpark') || steps.length > 1 || /gridshift|molobadekas/.test(pipeline)) return null
  const inverse = steps[0]?.[1] ? -1 : 1
  const given = Object.fromEntries(
    [...(steps[0]?.[2] ?? single?.[1] ?? '').matchAll(/\+(\w+)=(\S+)/g)].map((match) => [match[1]!, match[2]!]),
  )
  const rotation = given['convention'] === 'coordinate_frame' ? -inverse : inverse
  const number = (key: string, sign: number) => sign * Number(given[key] ?? 0)
  const shift = ['x', 'y', 'z'].map((key) => number(key, inverse))
  const turn = [...['rx', 'ry', 'rz'].map((key) => number(key, rotation)), number('s', inverse)]
  return (turn.some((value) => value !== 0) ? [...shift, ...turn] : shift).map(tenDigits).join(',')
}

/** A zero keeps its sign, as PROJ and C write it. */
function tenDigits(value: number): string {
  return Object.is(value, -0) ? '-0' : String(Number(value.toPrecision(10)))
}

function candidates(
  proj: Proj,
  code: number,
  base: number,
  figure: readonly string[],
  rest: readonly string[],
): { accuracyM: number; figure: string }[] {
  const datum = figure.find((part) => part.startsWith('+datum='))?.slice('+datum='.length)
  if (datum === 'WGS84' || rest.includes('+nadgrids=@null'))
    return [{ accuracyM: SPHERICAL.has(code) ? SPHERICAL_ACCURACY_M : 0, figure: figure.join(' ') }]
  const text = figure
    .map((part) => (datum && part === `+datum=${datum}` ? `+ellps=${ELLIPSOID_OF_DATUM[datum]}` : (FIGURES[part] ?? part)))
    .join(' ')
  const kept = KEPT.get(code)
  if (kept) return [{ accuracyM: KEPT_ACCURACY_M, figure: `${text} +towgs84=${kept}` }]
  if (UNSHIFTED.has(base)) return [{ accuracyM: 0, figure: text }]
  const preferred = PREFERRED.get(code)
  return proj.shiftsToWgs84(base).flatMap((shift) => {
    const numbers = helmert(shift)
    if (numbers === null || (preferred && numbers !== preferred)) return []
    return [{ accuracyM: shift.accuracyM ?? 0, figure: `${text} +towgs84=${numbers}` }]
  })
}

/**
 * The proj4 definition that PROJ agrees with best inside the area of the system. One that differs from PROJ by more than the
 * shift's published accuracy (or TOLERANCE_M, whichever is more) is none: an unknown code is an error, a wrong one garbage.
 */
export function choose(proj: Proj, code: number, proj4: string, info: SystemInfo): Chosen | null {
  const metres = metresAUnit(proj4)
  const base = baseCode(info)
  const places = controlPlaces(code, info)
  const wanted = proj.transform(EPSG_WGS84, `EPSG:${code}`, places)
  if (metres === null || base === null || !wanted) return null
  const { figure, rest } = split(proj4)
  const digits = metres === METRES_A_DEGREE ? 9 : 5
  let best: (Chosen & { errorM: number; accuracyM: number }) | null = null
  for (const candidate of candidates(proj, code, base, figure, rest)) {
    const definition = `${[...rest, SPHERICAL.has(code) ? SPHERE : candidate.figure].join(' ')} +no_defs +type=crs`
    const there = proj.transform(EPSG_WGS84, definition, places)?.map(([x, y]): Point => [round(x, digits), round(y, digits)])
    const back = there && proj.transform(definition, EPSG_WGS84, there)
    if (!back) continue
    const errorM = Math.max(...there.map(([x, y], i) => Math.hypot(x - wanted[i]![0], y - wanted[i]![1]))) * metres
    if (best && errorM >= best.errorM - TIE_M) continue
    const control = places.map(([lon, lat], i): ControlPoint => [lon, lat, ...there[i]!, round(back[i]![0], 9), round(back[i]![1], 9)])
    best = {
      errorM,
      accuracyM: candidate.accuracyM,
      figure: candidate.figure,
      projection: rest.filter((part) => part !== '+units=m').join(' '),
      control,
    }
  }
  return best && best.errorM <= Math.max(best.accuracyM, TOLERANCE_M) ? best : null
}
