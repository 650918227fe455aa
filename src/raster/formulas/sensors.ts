/** Common sensors and their bands, in the usual order of their products. */
import type { BandRole } from './roles.ts'

interface SensorBand {
  /** The operator's name of the band. */
  name: string
  /** Null for a band that no index uses. */
  role: BandRole | null
  /** Centre wavelength in nanometres; null for radar and elevation. */
  wavelengthNm: number | null
}

export interface Sensor {
  id: string
  name: string
  kind: 'optical' | 'radar' | 'elevation'
  bands: readonly SensorBand[]
  /** Factor from samples to reflectances of 0 to 1, in the usual product. */
  reflectanceScale: number | null
}

type Given = readonly [name: string, role: BandRole | null, wavelengthNm: number | null]

const sensor = (id: string, name: string, kind: Sensor['kind'], reflectanceScale: number | null, bands: readonly Given[]): Sensor => ({
  id,
  name,
  kind,
  reflectanceScale,
  bands: bands.map(([band, role, wavelengthNm]) => ({ name: band, role, wavelengthNm })),
})

const RGB_NIR: readonly Given[] = [
  ['Blue', 'BLUE', 480],
  ['Green', 'GREEN', 550],
  ['Red', 'RED', 660],
  ['NIR', 'NIR', 840],
]

export const SENSORS: readonly Sensor[] = [
  sensor('sentinel-2', 'Sentinel-2 MSI', 'optical', 0.0001, [
    ['B01', 'COASTAL', 443],
    ['B02', 'BLUE', 490],
    ['B03', 'GREEN', 560],
    ['B04', 'RED', 665],
    ['B05', 'REDEDGE1', 705],
    ['B06', 'REDEDGE2', 740],
    ['B07', 'REDEDGE3', 783],
    ['B08', 'NIR', 842],
    ['B8A', 'NIR08', 865],
    ['B09', null, 945],
    ['B11', 'SWIR1', 1610],
    ['B12', 'SWIR2', 2190],
  ]),
  sensor('landsat-8-9', 'Landsat 8 and 9 OLI', 'optical', 0.0000275, [
    ['B1', 'COASTAL', 443],
    ['B2', 'BLUE', 482],
    ['B3', 'GREEN', 561],
    ['B4', 'RED', 655],
    ['B5', 'NIR', 865],
    ['B6', 'SWIR1', 1609],
    ['B7', 'SWIR2', 2201],
    ['B10', 'THERMAL', 10_895],
  ]),
  sensor('landsat-4-7', 'Landsat 4, 5 and 7 TM and ETM+', 'optical', 0.0000275, [
    ['B1', 'BLUE', 485],
    ['B2', 'GREEN', 560],
    ['B3', 'RED', 660],
    ['B4', 'NIR', 830],
    ['B5', 'SWIR1', 1650],
    ['B7', 'SWIR2', 2215],
  ]),
  sensor('modis', 'MODIS land bands', 'optical', 0.0001, [
    ['1', 'RED', 645],
    ['2', 'NIR', 859],
    ['3', 'BLUE', 469],
    ['4', 'GREEN', 555],
    ['5', null, 1240],
    ['6', 'SWIR1', 1640],
    ['7', 'SWIR2', 2130],
  ]),
  sensor('planetscope-4', 'PlanetScope, four bands', 'optical', 0.0001, RGB_NIR),
  sensor('planetscope-8', 'PlanetScope SuperDove, eight bands', 'optical', 0.0001, [
    ['Coastal Blue', 'COASTAL', 443],
    ['Blue', 'BLUE', 490],
    ['Green I', null, 531],
    ['Green', 'GREEN', 565],
    ['Yellow', 'YELLOW', 610],
    ['Red', 'RED', 665],
    ['Red Edge', 'REDEDGE1', 705],
    ['NIR', 'NIR', 865],
  ]),
  sensor('rapideye', 'RapidEye', 'optical', 0.0001, [
    ['Blue', 'BLUE', 475],
    ['Green', 'GREEN', 555],
    ['Red', 'RED', 657],
    ['Red Edge', 'REDEDGE1', 710],
    ['NIR', 'NIR', 805],
  ]),
  sensor('worldview-2-3', 'WorldView-2 and -3, eight bands', 'optical', 0.0001, [
    ['Coastal', 'COASTAL', 427],
    ['Blue', 'BLUE', 478],
    ['Green', 'GREEN', 546],
    ['Yellow', 'YELLOW', 608],
    ['Red', 'RED', 659],
    ['Red Edge', 'REDEDGE1', 724],
    ['NIR1', 'NIR', 833],
    ['NIR2', 'NIR08', 949],
  ]),
  sensor('pleiades-neo', 'Pléiades Neo, six bands', 'optical', 0.0001, [
    ['Red', 'RED', 655],
    ['Green', 'GREEN', 560],
    ['Blue', 'BLUE', 485],
    ['NIR', 'NIR', 825],
    ['Red Edge', 'REDEDGE1', 725],
    ['Deep Blue', 'COASTAL', 425],
  ]),
  sensor('pleiades', 'Pléiades 1A and 1B', 'optical', 0.0001, [
    ['Red', 'RED', 656],
    ['Green', 'GREEN', 559],
    ['Blue', 'BLUE', 490],
    ['NIR', 'NIR', 842],
  ]),
  sensor('spot-6-7', 'SPOT 6 and 7', 'optical', 0.0001, [
    ['Red', 'RED', 660],
    ['Green', 'GREEN', 560],
    ['Blue', 'BLUE', 485],
    ['NIR', 'NIR', 825],
  ]),
  sensor('skysat', 'SkySat', 'optical', 0.0001, RGB_NIR),
  sensor('naip', 'NAIP aerial imagery', 'optical', null, [
    ['Red', 'RED', 650],
    ['Green', 'GREEN', 560],
    ['Blue', 'BLUE', 470],
    ['NIR', 'NIR', 840],
  ]),
  sensor('micasense-rededge', 'MicaSense RedEdge', 'optical', null, [
    ['Blue', 'BLUE', 475],
    ['Green', 'GREEN', 560],
    ['Red', 'RED', 668],
    ['NIR', 'NIR', 842],
    ['Red Edge', 'REDEDGE1', 717],
  ]),
  sensor('rgb', 'Drones and cameras in natural colour', 'optical', null, [
    ['Red', 'RED', null],
    ['Green', 'GREEN', null],
    ['Blue', 'BLUE', null],
  ]),
  sensor('sentinel-1', 'Sentinel-1, two polarizations', 'radar', null, [
    ['VV', 'VV', null],
    ['VH', 'VH', null],
  ]),
  sensor('alos-palsar', 'ALOS PALSAR, two polarizations', 'radar', null, [
    ['HH', 'HH', null],
    ['HV', 'HV', null],
  ]),
  sensor('dem', 'Elevation models', 'elevation', null, [['Elevation', 'ELEVATION', null]]),
]

export const findSensor = (id: string): Sensor | null => SENSORS.find((each) => each.id === id.toLowerCase()) ?? null

/** 1-based band numbers of a sensor, by role and by the operator's names. */
export function sensorNames({ bands }: Sensor): Record<string, number> {
  return Object.fromEntries(bands.flatMap(({ name, role }, index) => [name, ...(role ? [role] : [])].map((each) => [each, index + 1])))
}
