/** How one row of the table is found: the projection as PROJ writes it, and the datum shift that is nearest to what PROJ does. */
import proj4 from 'proj4'
import { fitShift } from './fit.ts'
import type { Point, Proj, Shift, SystemInfo } from './proj.ts'

/** Within this distance of PROJ a row is as good as any; beyond it the row says how far off it is. */
const TOLERANCE_M = 1
const METRES_A_DEGREE = 111_320
const LATITUDE_LIMIT = 89.5
const EPSG_WGS84 = 'EPSG:4326'
const WGS84 = '+proj=longlat +datum=WGS84 +no_defs'
const NO_SHIFT = '0,0,0'
const TIE_M = 1e-3
/** Further off than any datum: the library computes something else. */
const REFUSED_M = 1000
/** Equidistant cylindrical maps are computed on a sphere, as PROJ did before 9.8; on the ellipsoid northings differ by kilometres. */
const SPHERICAL_METHOD = 'eqc'

type Area = readonly [west: number, south: number, east: number, north: number]

/** Datums that reach over a continent are judged where their most used shift belongs: NAD 27 in the 48 states, Krovak in Czechia. */
const AREAS: ReadonlyMap<number, Area> = new Map([
  [4267, [-120, 27, -70, 48]],
  [4156, [12.5, 48.7, 18.5, 50.9]],
  [5514, [12.5, 48.7, 18.5, 50.9]],
])
const AREA_UNKNOWN: Area = [-60, -45, 60, 45]

/** Spheres and the ellipsoid of old sea ice grids, whose geographic coordinates are meant as they are. */
const UNSHIFTED: ReadonlySet<number> = new Set([4047, 4052, 4053, 4054])

const ELLIPSOID_OF_DATUM: Readonly<Record<string, string>> = { WGS84: 'WGS84', NAD83: 'GRS80', NAD27: 'clrk66' }

/** proj4 has another WGS 72 than PROJ. */
const FIGURES: Readonly<Record<string, string>> = { '+ellps=WGS72': '+a=6378135 +rf=298.26' }

/** Metres in a unit by the names that both libraries have; the others are written as a number. */
const UNITS: Readonly<Record<string, number>> = { m: 1, 'us-ft': 1200 / 3937, ft: 0.3048, km: 1000 }
const WRITTEN_UNITS: Readonly<Record<string, string>> = {
  link: '0.201168',
  'ind-yd': '0.91439523',
  yd: '0.9144',
  'us-yd': '0.914401828803658',
  'ind-ft': '0.30479841',
  'ind-ch': '20.11669506',
  ch: '20.1168',
}

/** Where in the area a row is compared: shares from west to east and from south to north. */
const PLACES = [
  [0.5, 0.5],
  [0.3, 0.35],
  [0.7, 0.65],
  [0.2, 0.75],
  [0.8, 0.25],
] as const
const KEPT_PLACES = 2

/** A geographic point, PROJ's x and y of it, and what PROJ makes of these on the way back. */
export type ControlPoint = [lon: number, lat: number, x: number, y: number, lonBack: number, latBack: number]

export interface Chosen {
  projection: string
  figure: string
  /** As the registry publishes it; null where nobody has published a shift. */
  accuracyM: number | null
  /** The largest distance from PROJ's coordinates. */
  deviationM: number
  control: ControlPoint[]
}

interface Judged {
  one: Candidate
  distance: number
}

interface Candidate {
  figure: string
  accuracyM: number | null
}

/** The parts of a proj4 text that the tables keep. */
export function clean(text: string): string {
  return text
    .replaceAll(/\s*\+(no_defs|type=crs|wktext|towgs84=\S+|vunits=\S+|vto_meter=\S+|geoidgrids=\S+|nodefs)/g, '')
    .replace(/\+units=(\S+)/, (whole, unit: string) => (WRITTEN_UNITS[unit] ? `+to_meter=${WRITTEN_UNITS[unit]}` : whole))
    .trim()
}

/** The parts that describe the figure of the Earth, and the rest. */
function split(text: string): { figure: string[]; rest: string[] } {
  const parts = text.split(/\s+/)
  const isFigure = (part: string) => /^\+(datum|ellps|a|b|rf|R|pm)=/.test(part)
  return { figure: parts.filter(isFigure), rest: parts.filter((part) => !isFigure(part)) }
}

/** Metres in a unit of the system; null for a unit that proj4 does not know. */
function metresAUnit(text: string): number | null {
  if (/\+proj=longlat/.test(text)) return METRES_A_DEGREE
  const named = /\+units=(\S+)/.exec(text)?.[1]
  if (named) return UNITS[named] ?? null
  return Number(/\+to_meter=(\S+)/.exec(text)?.[1] ?? 1)
}

function placesIn([west, south, east, north]: Area): Point[] {
  const bottom = Math.max(south, -LATITUDE_LIMIT)
  const top = Math.min(north, LATITUDE_LIMIT)
  const wrap = (lon: number) => (lon > 180 ? lon - 360 : lon)
  return PLACES.map(([x, y]): Point => [round(wrap(west + (east - west) * x), 4), round(bottom + (top - bottom) * y, 4)])
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

function round(value: number, digits: number): number {
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
  return (turn.some((value) => value !== 0) ? [...shift, ...turn] : shift)
    .map((value) => String(Number(value.toPrecision(10)) + 0))
    .join(',')
}

/** Figures with a shift, the most trusted first: a later one must be clearly better to be taken. */
function* candidates(proj: Proj, base: number, { figure, rest }: ReturnType<typeof split>): Generator<Candidate> {
  const datum = figure.find((part) => part.startsWith('+datum='))?.slice('+datum='.length)
  if (datum === 'WGS84' || rest.includes('+nadgrids=@null')) return yield { accuracyM: 0, figure: figure.join(' ') }
  const text = plainFigure(figure)
  if (UNSHIFTED.has(base)) return yield { accuracyM: 0, figure: text }
  const published = proj.shiftsToWgs84(base).flatMap((shift) => {
    const numbers = helmert(shift)
    return numbers === null ? [] : [{ accuracyM: shift.accuracyM, figure: `${text} +towgs84=${numbers}` }]
  })
  const isZero = ({ figure: shift }: Candidate) => shift.endsWith(`=${NO_SHIFT}`)
  yield* published.filter(isZero)
  yield* published.filter((candidate) => !isZero(candidate))
  yield { accuracyM: null, figure: text }
}

function plainFigure(figure: readonly string[]): string {
  const datum = figure.find((part) => part.startsWith('+datum='))?.slice('+datum='.length)
  return figure
    .map((part) => (datum && part === `+datum=${datum}` ? `+ellps=${ELLIPSOID_OF_DATUM[datum]}` : (FIGURES[part] ?? part)))
    .join(' ')
}

/** Where no published shift does what PROJ does there: the numbers that come nearest, with the accuracy of PROJ's own way. */
function fitted(proj: Proj, base: number, figure: readonly string[], area: Area): Candidate[] {
  const text = plainFigure(figure)
  const accuracyM = proj.shiftsToWgs84(base).find(({ name }) => !name.includes('Ballpark'))?.accuracyM ?? null
  return fitShift(proj, base, text, placesIn(area)).map((numbers) => ({ accuracyM, figure: `${text} +towgs84=${numbers}` }))
}

/** Metres between what the library makes of places and what PROJ does; infinite where it makes nothing of one. */
function distancesM(definition: string, places: readonly Point[], wanted: readonly Point[], metres: number): number[] {
  const { forward } = proj4(WGS84, definition)
  return places.map((place, i) => {
    const [x, y] = attempted(forward, place)
    const dx = metres === METRES_A_DEGREE ? Math.abs(((x - wanted[i]![0] + 540) % 360) - 180) : x - wanted[i]![0]
    const distance = Math.hypot(dx, y - wanted[i]![1]) * metres
    return Number.isFinite(distance) ? distance : Infinity
  })
}

/** The library throws for some points that it cannot compute. */
function attempted(convert: (point: number[], enforceAxis?: boolean) => number[], point: Point): Point {
  try {
    const [x = NaN, y = NaN] = convert([...point], true)
    return [x, y]
  } catch {
    return [NaN, NaN]
  }
}

/** In one corner of an area PROJ may use a shift of its own: the middle of all places tells which one serves the area. */
const middleOf = (distances: readonly number[]): number => distances.toSorted((a, b) => a - b)[Math.floor(distances.length / 2)] ?? Infinity

/** The same for the way back. */
function distanceBackM(definition: string, control: readonly ControlPoint[]): number {
  const { inverse } = proj4(WGS84, definition)
  return Math.max(
    ...control.map(([, , x, y, lonBack, latBack]) => {
      const [lon, lat] = attempted(inverse, [x, y])
      const dLon = (((lon - lonBack + 540) % 360) - 180) * Math.cos((latBack * Math.PI) / 180)
      return Math.hypot(dLon, lat - latBack) * METRES_A_DEGREE
    }),
  )
}

interface Wanted {
  places: Point[]
  wanted: Point[]
  back: Point[]
}

/**
 * Places in an area, PROJ's coordinates of them, and what PROJ makes of these on the way back. The way from WGS 84 to the datum
 * is the same for all maps on it.
 */
function wantedIn(proj: Proj, { code, base }: { code: number; base: number }, area: Area, digits: number): Wanted {
  const samples: Wanted = { places: [], wanted: [], back: [] }
  const places = placesIn(area)
  const onDatum = proj.transform(EPSG_WGS84, `EPSG:${base}`, places) ?? []
  const projected =
    code === base ? onDatum : onDatum.map((point) => point && (proj.transform(`EPSG:${base}`, `EPSG:${code}`, [point])?.[0] ?? null))
  projected.forEach((point, i) => {
    if (!point) return
    const rounded: Point = [round(point[0], digits), round(point[1], digits)]
    const local = code === base ? rounded : proj.transformBack(`EPSG:${base}`, `EPSG:${code}`, [rounded])?.[0]
    const back = local && proj.transformBack(EPSG_WGS84, `EPSG:${base}`, [local])?.[0]
    if (!back) return
    samples.places.push(places[i]!)
    samples.wanted.push(rounded)
    samples.back.push([round(back[0], 9), round(back[1], 9)])
  })
  return samples
}

/** The row of a code, or why there is none. */
export function choose(proj: Proj, code: number, text: string, info: SystemInfo): Chosen | string {
  const metres = metresAUnit(text)
  const base = baseCode(info)
  if (metres === null) return 'its unit of length is not known here'
  if (base === null) return 'it stands on a datum without a code'
  const method = /\+proj=(\w+)/.exec(text)?.[1] ?? ''
  const { figure, rest } = split(text)
  const digits = metres === METRES_A_DEGREE ? 9 : 5
  const { places, wanted, back } = wantedIn(proj, { code, base }, areaOf(info), digits)
  if (places.length === 0) return 'PROJ does not compute it either'
  const area = AREAS.get(code) ?? areaOf(info)
  const judged = AREAS.has(code) ? wantedIn(proj, { code, base }, area, digits) : { places, wanted }
  const definitionOf = (candidate: Candidate) => `${[...rest, candidate.figure].join(' ')} +no_defs`
  const nearest = (list: Iterable<Candidate>, start: Judged | null): Judged | null => {
    let best = start
    for (const candidate of list) {
      const distance = middleOf(distancesM(definitionOf(candidate), judged.places, judged.wanted, metres))
      if (!best || distance < best.distance - TIE_M) best = { one: candidate, distance }
    }
    return best
  }
  let best: Judged | null
  try {
    best = nearest(candidates(proj, base, { figure, rest }), null)
    // Numbers made for an area are worth it only where they do what PROJ does: where PROJ mixes shifts nothing does.
    const own = best && best.distance > TOLERANCE_M ? nearest(fitted(proj, base, figure, area), null) : null
    if (own && Math.max(...distancesM(definitionOf(own.one), judged.places, judged.wanted, metres)) <= TOLERANCE_M) best = own
  } catch {
    return `its projection (${method}) is not supported here`
  }
  if (!best || !Number.isFinite(best.distance)) return `its projection (${method}) cannot be computed here`
  const definition = definitionOf(best.one)
  const control = wanted.slice(0, KEPT_PLACES).map((point, i): ControlPoint => [...places[i]!, ...point, ...back[i]!])
  const deviationM = Math.max(...distancesM(definition, places, wanted, metres), distanceBackM(definition, control))
  if ((!Number.isFinite(deviationM) || best.distance > REFUSED_M) && method !== SPHERICAL_METHOD)
    return `its projection (${method}) cannot be computed here`
  const projection = rest.filter((part) => part !== '+units=m').join(' ')
  return { projection, figure: best.one.figure, accuracyM: best.one.accuracyM, deviationM, control }
}
