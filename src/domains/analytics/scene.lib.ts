/** A raster to compute from: an item's, if the caller may read it, or a file on an allowed host. */
import { meant } from '#core/nearest.ts'
import { invalidField } from '#core/problem.ts'
import type { Layer } from '#model/imagery/item-layer.ts'
import { rasterSourceOf } from '#model/imagery/asset.ts'
import type { Context } from '#operation.ts'
import type { RasterSource } from '#ports/raster.ts'
import { listBands } from '#raster/expression/bands.ts'
import { proposeBands } from '#raster/formulas/propose.ts'
import { normalizeRoles } from '#raster/formulas/roles.ts'
import { findSensor, sensorNames, SENSORS, type Sensor } from '#raster/formulas/sensors.ts'
import { bandNames, type BandNames } from '#raster/render/request.ts'
import type { RasterInfo } from '#raster/types.ts'

export interface Scene {
  /** Null for a file that is nobody's item. */
  item: Layer['item'] | null
  assetKey: string | null
  source: RasterSource
  info: RasterInfo
  /** What bands are called, to their numbers from 1. */
  names: BandNames
  sensor: Sensor | null
}

interface Bands {
  asset_key?: string | null | undefined
  band_mapping?: Readonly<Record<string, number>> | null | undefined
  sensor?: string | null | undefined
}

type Reading = Pick<Context, 'layers' | 'principal' | 'raster'> & { readonly signal?: AbortSignal | undefined }

export async function openItem(context: Reading, itemId: string, bands: Bands): Promise<Scene> {
  const layer = await context.layers.requireReader(context.principal, itemId, { assetKey: bands.asset_key ?? null, profile: null })
  return await openLayer(context, layer, bands)
}

/** For an item that was found already. */
async function openLayer({ raster, signal }: Reading, layer: Layer, bands: Bands): Promise<Scene> {
  return sceneOf(layer, await raster.describe(rasterSourceOf(layer.asset), signal), bands)
}

/** For an item whose raster was looked at already. */
export function sceneOf(layer: Layer, info: RasterInfo, bands: Bands): Scene {
  const source = rasterSourceOf(layer.asset)
  return { item: layer.item, assetKey: layer.asset.key, source, info, ...named(info, layer.asset.bandNames, bands) }
}

export async function openUrl({ raster, signal }: Reading, url: string, bands: Bands): Promise<Scene> {
  const source = { url }
  const info = await raster.describe(source, signal)
  return { item: null, assetKey: null, source, info, ...named(info, null, bands) }
}

/** What the caller says wins, then the sensor that they name, then the file; where all are silent the number of bands tells. */
function named(info: RasterInfo, given: readonly string[] | null, bands: Bands): Pick<Scene, 'names' | 'sensor'> {
  const sensor = requireSensor(bands.sensor)
  const own = bandNames(info, given)
  const known = normalizeRoles(own).size > 0 ? own : { ...guessed(info), ...own }
  const mapping = bands.band_mapping ?? {}
  for (const [name, band] of Object.entries(mapping))
    if (band > info.bandCount)
      throw invalidField('band_mapping', `${name} names band ${band}, which does not exist; ${listBands(own, info.bandCount)}`)
  const ofSensor = sensor && sensor.bands.length <= info.bandCount ? sensorNames(sensor) : {}
  return { names: { ...known, ...ofSensor, ...mapping }, sensor }
}

const guessed = (info: RasterInfo): BandNames =>
  Object.fromEntries((proposeBands(info, null)?.bands ?? []).flatMap(({ role, index }) => (role ? [[role, index]] : [])))

const SENSOR_IDS = SENSORS.map((each) => each.id)

export function requireSensor(id: string | null | undefined): Sensor | null {
  if (id == null) return null
  const found = findSensor(id)
  if (!found)
    throw invalidField('sensor', `there is no sensor '${id.slice(0, 50)}'${meant(id, SENSOR_IDS, `known are ${SENSOR_IDS.join(', ')}`)}`)
  return found
}
