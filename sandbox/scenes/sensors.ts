/** The sandbox's sensors as data. */
import type { BandName } from './materials.ts'

export interface Sensor {
  readonly id: SensorId
  readonly kind: 'optical' | 'elevation'
  readonly gsdM: number
  readonly bands: readonly BandName[]
  readonly dataType: 'uint16' | 'uint8' | 'float32'
  /** Width and height of a full scene. */
  readonly sizePx: number
  /** Mean local solar time of an overpass, and its spread. */
  readonly solarHour: number
  readonly solarSpreadHours: number
  /** Revisit period. */
  readonly revisitDays: number
  readonly maxOffNadirDeg: number
  /** Angle of the track from north, which rotates the footprint in the raster. */
  readonly trackDeg: number
  /** Standard deviation of the noise, as reflectance and as a fraction of the signal. */
  readonly noise: readonly [number, number]
}

export const SENSOR_IDS = ['sandbox-vhr', 'sandbox-hr', 'sandbox-open', 'sandbox-dem', 'sandbox-landsat', 'sandbox-naip'] as const
export type SensorId = (typeof SENSOR_IDS)[number]

export const SENSORS: Readonly<Record<SensorId, Sensor>> = {
  'sandbox-vhr': {
    id: 'sandbox-vhr',
    kind: 'optical',
    gsdM: 0.5,
    bands: ['blue', 'green', 'red', 'nir'],
    dataType: 'uint16',
    sizePx: 16_384,
    solarHour: 10.6,
    solarSpreadHours: 0.8,
    revisitDays: 1,
    maxOffNadirDeg: 25,
    trackDeg: 8,
    noise: [0.0012, 0.01],
  },
  'sandbox-hr': {
    id: 'sandbox-hr',
    kind: 'optical',
    gsdM: 3,
    bands: ['coastal', 'blue', 'green_i', 'green', 'yellow', 'red', 'rededge1', 'nir'],
    dataType: 'uint16',
    sizePx: 8_192,
    solarHour: 10.2,
    solarSpreadHours: 1,
    revisitDays: 1,
    maxOffNadirDeg: 5,
    trackDeg: 10,
    noise: [0.0015, 0.012],
  },
  'sandbox-open': {
    id: 'sandbox-open',
    kind: 'optical',
    gsdM: 10,
    bands: ['coastal', 'blue', 'green', 'red', 'rededge1', 'rededge2', 'rededge3', 'nir', 'nir08', 'nir09', 'swir16', 'swir22'],
    dataType: 'uint16',
    sizePx: 10_240,
    solarHour: 10.5,
    solarSpreadHours: 0.2,
    revisitDays: 1,
    maxOffNadirDeg: 8,
    trackDeg: 5,
    noise: [0.0008, 0.006],
  },
  'sandbox-dem': {
    id: 'sandbox-dem',
    kind: 'elevation',
    gsdM: 30,
    bands: [],
    dataType: 'float32',
    sizePx: 3_584,
    solarHour: 12,
    solarSpreadHours: 0,
    revisitDays: 365,
    maxOffNadirDeg: 0,
    trackDeg: 0,
    noise: [0, 0],
  },
  'sandbox-landsat': {
    id: 'sandbox-landsat',
    kind: 'optical',
    gsdM: 30,
    bands: ['coastal', 'blue', 'green', 'red', 'nir', 'swir16', 'swir22'],
    dataType: 'uint16',
    sizePx: 6_144,
    solarHour: 10.1,
    solarSpreadHours: 0.2,
    revisitDays: 1,
    maxOffNadirDeg: 0,
    trackDeg: 9,
    noise: [0.0006, 0.005],
  },
  'sandbox-naip': {
    id: 'sandbox-naip',
    kind: 'optical',
    gsdM: 0.6,
    bands: ['red', 'green', 'blue', 'nir'],
    dataType: 'uint8',
    sizePx: 10_240,
    solarHour: 11.5,
    solarSpreadHours: 2,
    revisitDays: 1,
    maxOffNadirDeg: 0,
    trackDeg: 0,
    noise: [0.002, 0.012],
  },
}
