/** The simulated hosts as data: their sensors and prices. */
import type { SensorId } from '../scenes/index.ts'

export interface PriceRow {
  readonly centsPerSqKm: number
  /** For scenes older than `ARCHIVE_DAYS`. */
  readonly archiveCentsPerSqKm: number
  readonly minimumSqKm: number
  readonly resolutionClass: string
  readonly kind: 'archive' | 'tasking'
}

export interface SandboxHost {
  readonly name: string
  readonly title: string
  readonly description: string
  /** Null: granules of points. */
  readonly sensor: SensorId | null
  readonly platform: string
  /** By product; empty for open data. A scene is offered as the first one. */
  readonly prices: Readonly<Record<string, PriceRow>>
  /** Fails as scene names tell it to. */
  readonly isFlaky: boolean
}

/** Maximum area of one capture or feature; the registry has the same limit for each product. */
export const MAX_SQ_KM = 400
/** Age at which scenes become cheaper. */
export const ARCHIVE_DAYS = 90
export const VENDOR_KEY = 'sandbox-vendor-key'

const OPEN = { prices: {}, isFlaky: false } as const
const VHR_TASKING: PriceRow = {
  centsPerSqKm: 3_900,
  archiveCentsPerSqKm: 3_900,
  minimumSqKm: 0.1,
  resolutionClass: 'VHR 0.5 m',
  kind: 'tasking',
}

export const HOSTS: readonly SandboxHost[] = [
  {
    name: 'sandbox-vhr',
    title: 'Very high resolution, 0.5 m',
    description: 'Simulated 0.5 m imagery with four bands',
    sensor: 'sandbox-vhr',
    platform: 'sandbox-1',
    prices: {
      'sandbox-vhr-archive': {
        centsPerSqKm: 2_450,
        archiveCentsPerSqKm: 1_680,
        minimumSqKm: 0.1,
        resolutionClass: 'VHR 0.5 m',
        kind: 'archive',
      },
      'sandbox-vhr-tasking': VHR_TASKING,
      'sandbox-vhr-quoted': { ...VHR_TASKING, centsPerSqKm: 4_400 },
      'sandbox-vhr-assured': { ...VHR_TASKING, centsPerSqKm: 6_200 },
    },
    isFlaky: false,
  },
  {
    name: 'sandbox-hr',
    title: 'High resolution, 3 m',
    description: 'Simulated 3 m imagery with eight bands',
    sensor: 'sandbox-hr',
    platform: 'sandbox-flock',
    prices: {
      'sandbox-hr-archive': { centsPerSqKm: 310, archiveCentsPerSqKm: 185, minimumSqKm: 1, resolutionClass: 'HR 3 m', kind: 'archive' },
      'sandbox-hr-analytic': { centsPerSqKm: 430, archiveCentsPerSqKm: 260, minimumSqKm: 1, resolutionClass: 'HR 3 m', kind: 'archive' },
    },
    isFlaky: false,
  },
  {
    name: 'sandbox-open',
    title: 'Sentinel-2-like, 10 m',
    description: 'Simulated 10 m surface reflectance in twelve bands',
    sensor: 'sandbox-open',
    platform: 'sandbox-2a',
    ...OPEN,
  },
  {
    name: 'sandbox-dem',
    title: 'Elevation, 30 m',
    description: 'Simulated elevation in metres above sea level',
    sensor: 'sandbox-dem',
    platform: 'sandbox-topo',
    ...OPEN,
  },
  {
    name: 'sandbox-landsat',
    title: 'Landsat-like, 30 m',
    description: 'Simulated 30 m surface reflectance in seven bands',
    sensor: 'sandbox-landsat',
    platform: 'sandbox-land',
    ...OPEN,
  },
  {
    name: 'sandbox-naip',
    title: 'NAIP-like, 0.6 m',
    description: 'Simulated 0.6 m aerial imagery with four bands',
    sensor: 'sandbox-naip',
    platform: 'sandbox-air',
    ...OPEN,
  },
  {
    name: 'sandbox-altimetry',
    title: 'Surface heights along tracks',
    description: 'Simulated granules of points with height and time',
    sensor: null,
    platform: 'sandbox-ice',
    ...OPEN,
  },
  {
    name: 'sandbox-flaky',
    title: 'High resolution, 3 m, with faults',
    description: 'Simulated imagery of a vendor that fails on request',
    sensor: 'sandbox-hr',
    platform: 'sandbox-flock',
    prices: {
      'sandbox-flaky-archive': { centsPerSqKm: 310, archiveCentsPerSqKm: 185, minimumSqKm: 1, resolutionClass: 'HR 3 m', kind: 'archive' },
    },
    isFlaky: true,
  },
]
