/** A collection of an open host, with simulated scenes as its items and files. */
import { CLASSIFICATION, windowOf, type SceneDescription, type SensorId } from '../../scenes/index.ts'

/** One file of a scene. */
export interface ProductFile {
  /** Asset key. */
  readonly key: string
  /** Name of the file at the host. */
  readonly name: string
  /** Bands of the simulated sensor, in the order of the file. */
  readonly bands: readonly string[]
  /** How many times larger its pixels are than those of the sensor. */
  readonly factor?: number
  /** An 8-bit image for the eye instead of values. */
  readonly isVisual?: true
  /** Classes of the scene classification instead of values: clouds, and what is not. */
  readonly isMask?: true
  /** The stored value of a sample of the simulated sensor; 0 stays 0. */
  readonly store?: (sample: number) => number
}

export interface Product {
  readonly collection: string
  readonly title: string
  readonly sensor: SensorId
  readonly files: readonly ProductFile[]
  /** The hosts state `proprietary` for terms without an SPDX identifier, with a link to them. */
  readonly licenseUrl?: string
  /** The ID that the host gives to a scene of a day and a cell of the sensor's grid. */
  readonly idOf: (day: string, cell: string) => string
  /** Properties and assets of an item; `base` is the URL of the simulated hosts. */
  readonly itemOf: (scene: SceneDescription, id: string, base: string) => { properties: object; assets: Record<string, object> }
}

/** The host's ID of a simulated scene. */
export function itemId({ idOf }: Product, { id }: SceneDescription): string {
  const [, day, cell] = /_(\d{8})_(r\d+c\d+)$/.exec(id)!
  return idOf(day!, cell!.toUpperCase())
}

/** The simulated scene of a host's ID; null if the ID is not of this product. */
export function sceneIdOf({ idOf, sensor }: Product, id: string): string | null {
  const day = /\d{8}/.exec(id)?.[0]
  const cell = /R\d+C\d+/.exec(id)?.[0]
  return day && cell && idOf(day, cell) === id ? `${sensor}_${day}_${cell.toLowerCase()}` : null
}

/** The part of a scene that one file has. */
export function fileScene(scene: SceneDescription, { key, bands, factor = 1, isVisual, isMask }: ProductFile): SceneDescription {
  const size = { width: Math.floor(scene.width / factor), height: Math.floor(scene.height / factor) }
  const copy = factor === 1 ? scene : windowOf(scene, { x: 0, y: 0, ...size }, factor)
  return {
    ...copy,
    id: `${scene.id}_${key}`,
    bands: bands.map((name) => scene.bands.find((band) => band.name === name)!),
    ...(isMask ? { bands: [CLASSIFICATION], dataType: 'uint8' as const, scale: null } : {}),
    ...(isVisual ? { dataType: 'uint8' as const, scale: null } : {}),
  }
}

/** Where a file lies on the ground, in the terms of the projection extension. */
export function gridOf(scene: SceneDescription, factor = 1) {
  const [west, , , north] = scene.transform
  const gsd = scene.gsdM * factor
  return {
    'proj:shape': [Math.floor(scene.height / factor), Math.floor(scene.width / factor)],
    'proj:transform': [gsd, 0, west, 0, -gsd, north],
  }
}

export const SENTINEL_LICENSE_URL = 'https://sentinel.esa.int/documents/247904/690755/Sentinel_Data_Legal_Notice'

export const COG_TYPE = 'image/tiff; application=geotiff; profile=cloud-optimized'

/** Sentinel-2 bands: the name of the band, the common name that we use, its resolution in metres and its wavelength in micrometres. */
export const SENTINEL_BANDS = [
  ['B01', 'coastal', 60, 0.443],
  ['B02', 'blue', 10, 0.49],
  ['B03', 'green', 10, 0.56],
  ['B04', 'red', 10, 0.665],
  ['B05', 'rededge1', 20, 0.704],
  ['B06', 'rededge2', 20, 0.74],
  ['B07', 'rededge3', 20, 0.783],
  ['B08', 'nir', 10, 0.842],
  ['B8A', 'nir08', 20, 0.865],
  ['B09', 'nir09', 60, 0.945],
  ['B11', 'swir16', 20, 1.61],
  ['B12', 'swir22', 20, 2.19],
] as const

export const sentinelProperties = (scene: SceneDescription) => ({
  datetime: scene.datetime,
  created: scene.datetime,
  instruments: ['msi'],
  'eo:cloud_cover': scene.cloudCover,
  'proj:epsg': scene.epsg,
  'view:sun_azimuth': scene.sunAzimuthDeg,
  'view:sun_elevation': scene.sunElevationDeg,
})
