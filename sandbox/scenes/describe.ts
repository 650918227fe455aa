/** The metadata of a scene, known before any pixel is computed. */
import type { Affine } from '#raster/types.ts'
import { bboxOf, footprintOf, squareAt, type Bbox, type Footprint } from './footprint.ts'
import { readLine, toScene, utmEpsg, type Grid } from './grid.ts'
import { WAVELENGTHS_UM } from './materials.ts'
import { chance, hashText, levelLimit, points } from './noise.ts'
import { SENSORS, type Sensor, type SensorId } from './sensors.ts'
import { sunAt, type Sun } from './sun.ts'
import { CLOUD_THRESHOLD, Weather } from './weather.ts'

export interface SceneRequest {
  readonly sensor: SensorId
  readonly longitude: number
  readonly latitude: number
  readonly datetime: string | Date
  /** The scene's id, which seeds everything random about the acquisition. Derived from the request by default. */
  readonly id?: string
  readonly seed?: number
  /** Width and height; default: a full scene of the sensor. */
  readonly sizePx?: number
}

interface SceneBand {
  readonly name: string
  /** The band name in the formulas of the raster library; null if they do not use it. */
  readonly role: string | null
  readonly wavelengthUm: number | null
}

export interface SceneDescription {
  readonly id: string
  readonly seed: number
  readonly sensor: SensorId
  readonly datetime: string
  readonly longitude: number
  readonly latitude: number
  readonly gsdM: number
  readonly epsg: number
  readonly transform: Affine
  readonly width: number
  readonly height: number
  readonly dataType: Sensor['dataType']
  readonly nodata: number | null
  /** Physical value = sample · scale: reflectance, or metres. Null for visual products. */
  readonly scale: number | null
  readonly bands: readonly SceneBand[]
  readonly footprint: Footprint
  readonly bbox: Bbox
  /** Percentage of the footprint, one decimal; null for elevation. */
  readonly cloudCover: number | null
  readonly sunAzimuthDeg: number
  readonly sunElevationDeg: number
  readonly offNadirDeg: number
}

const SCALES = { uint16: 0.0001, uint8: null, float32: 1 } as const
const MIN_SIZE_PX = 16
const MAX_SIZE_PX = 16_384
const MAX_LATITUDE = 84
const ROLES: Readonly<Record<string, string | null>> = { green_i: null, nir09: null, swir16: 'SWIR1', swir22: 'SWIR2' }
/** Sample points per side for measuring the cloud cover. */
const CLOUD_SAMPLES = 32

export function describeScene(request: SceneRequest): SceneDescription {
  const sensor = SENSORS[request.sensor]
  const { longitude, latitude, sizePx = sensor?.sizePx } = request
  const timeMs = new Date(request.datetime).getTime()
  assertRequest(request, sizePx, timeMs)
  const datetime = new Date(timeMs).toISOString()
  const id = request.id ?? `${sensor.id}_${datetime.replaceAll(/[-:]|\.\d+/g, '')}_${longitude.toFixed(5)}_${latitude.toFixed(5)}`
  const seed = request.seed ?? hashText(id)
  const grid = gridOf(sensor, { longitude, latitude, sizePx })
  const angle = sensor.kind === 'optical' ? ((sensor.trackDeg + 3 * (chance(seed, 1, 1) - 0.5)) * Math.PI) / 180 : 0
  const corners = squareAt(sizePx, angle)
  const footprint = footprintOf(corners, grid)
  const sun = sunAt(longitude, latitude, timeMs)
  const isOptical = sensor.kind === 'optical'
  return {
    id,
    seed,
    sensor: sensor.id,
    datetime,
    longitude,
    latitude,
    gsdM: sensor.gsdM,
    epsg: utmEpsg(longitude, latitude),
    transform: grid.transform,
    width: sizePx,
    height: sizePx,
    dataType: sensor.dataType,
    nodata: isOptical ? 0 : null,
    scale: SCALES[sensor.dataType],
    bands: isOptical ? sensor.bands.map(bandOf) : [{ name: 'elevation', role: 'ELEVATION', wavelengthUm: null }],
    footprint,
    bbox: bboxOf(footprint),
    cloudCover: isOptical ? measureClouds(sensor, { grid, corners, sun, timeMs, latitude }) : null,
    sunAzimuthDeg: roundTo(sun.azimuthDeg, 2),
    sunElevationDeg: roundTo(sun.elevationDeg, 2),
    offNadirDeg: roundTo(sensor.maxOffNadirDeg * chance(seed, 2, 1), 1),
  }
}

function assertRequest({ sensor, longitude, latitude }: SceneRequest, sizePx: number, timeMs: number): void {
  if (!Object.hasOwn(SENSORS, sensor)) throw new RangeError(`Unknown sensor "${sensor}"`)
  if (!(Math.abs(longitude) <= 180) || !(Math.abs(latitude) <= MAX_LATITUDE))
    throw new RangeError(`No scene at ${longitude}, ${latitude}: the latitude must be within ±${MAX_LATITUDE}`)
  if (!Number.isInteger(sizePx) || sizePx < MIN_SIZE_PX || sizePx > MAX_SIZE_PX)
    throw new RangeError(`The size must be between ${MIN_SIZE_PX} and ${MAX_SIZE_PX} pixels, not ${sizePx}`)
  if (!Number.isFinite(timeMs)) throw new RangeError('Invalid date')
}

/** Corners are aligned to the pixel grid of the zone, so that scenes of one sensor share their pixels. */
function gridOf(sensor: Sensor, { longitude, latitude, sizePx }: { longitude: number; latitude: number; sizePx: number }): Grid {
  const crs = toScene(utmEpsg(longitude, latitude))
  const [x, y] = crs.forward(longitude, latitude)
  const { gsdM } = sensor
  const west = (Math.round(x / gsdM) - Math.floor(sizePx / 2)) * gsdM
  const north = (Math.round(y / gsdM) + Math.floor(sizePx / 2)) * gsdM
  return { transform: [west, gsdM, 0, north, 0, -gsdM], crs, nearLongitude: longitude }
}

export const gridOfScene = ({ transform, epsg, longitude }: SceneDescription): Grid => ({
  transform,
  crs: toScene(epsg),
  nearLongitude: longitude,
})

const bandOf = (name: Sensor['bands'][number]): SceneBand => ({
  name,
  role: name in ROLES ? (ROLES[name] ?? null) : name.toUpperCase(),
  wavelengthUm: WAVELENGTHS_UM[name],
})

interface CloudQuestion {
  readonly grid: Grid
  readonly corners: readonly (readonly [number, number])[]
  readonly sun: Sun
  readonly timeMs: number
  readonly latitude: number
}

/** Samples the clouds on a regular lattice in the footprint: the same clouds that the pixels will show. */
function measureClouds(sensor: Sensor, { grid, corners, sun, timeMs, latitude }: CloudQuestion): number {
  const weather = new Weather({ capacity: CLOUD_SAMPLES, timeMs, limit: levelLimit(sensor.gsdM, latitude), sun })
  const at = points(CLOUD_SAMPLES)
  const cover = new Float64Array(CLOUD_SAMPLES)
  const [a, b, , d] = corners as [[number, number], [number, number], [number, number], [number, number]]
  const step = 1 / CLOUD_SAMPLES
  let cloudy = 0
  for (let k = 0; k < CLOUD_SAMPLES; k++) {
    const down = (k + 0.5) * step
    const column = a[0] + (d[0] - a[0]) * down + (b[0] - a[0]) * step * 0.5
    const row = a[1] + (d[1] - a[1]) * down + (b[1] - a[1]) * step * 0.5
    readLine(at, grid, { column, row, stepX: (b[0] - a[0]) * step, stepY: (b[1] - a[1]) * step, count: CLOUD_SAMPLES })
    weather.readClouds(cover, at)
    for (const share of cover) if (share > CLOUD_THRESHOLD) cloudy++
  }
  return roundTo((100 * cloudy) / CLOUD_SAMPLES ** 2, 1)
}

const roundTo = (value: number, decimals: number): number => Math.round(value * 10 ** decimals) / 10 ** decimals
