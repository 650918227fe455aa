/** A raster to analyse: an item's, if the caller can read it, or a file on an allowed host. */
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
  /** Null for a file that is not an item. */
  item: Layer['item'] | null
  assetKey: string | null
  source: RasterSource
  info: RasterInfo
  /** Band names with their 1-based numbers. */
  names: BandNames
  sensor: Sensor | null
}

interface Bands {
  asset_key?: string | null | undefined
  band_mapping?: Readonly<Record<string, number>> | null | undefined
  sensor?: string | null | undefined
}

type SceneContext = Pick<Context, 'layers' | 'principal' | 'raster'> & { readonly signal?: AbortSignal | undefined }

export async function openItem(context: SceneContext, itemId: string, bands: Bands): Promise<Scene> {
  const layer = await context.layers.requireReader(context.principal, itemId, { assetKey: bands.asset_key ?? null, profile: null })
  return await openLayer(context, layer, bands)
}

/** For an item that has been loaded already. */
async function openLayer({ raster, signal }: SceneContext, layer: Layer, bands: Bands): Promise<Scene> {
  return sceneOf(layer, await raster.describe(rasterSourceOf(layer.asset), signal), bands)
}

/** For an item whose raster has been described already. */
export function sceneOf(layer: Layer, info: RasterInfo, bands: Bands): Scene {
  const source = rasterSourceOf(layer.asset)
  return { item: layer.item, assetKey: layer.asset.key, source, info, ...nameBands(info, layer.asset.bandNames, bands) }
}

export async function openUrl({ raster, signal }: SceneContext, url: string, bands: Bands): Promise<Scene> {
  const source = { url }
  const info = await raster.describe(source, signal)
  return { item: null, assetKey: null, source, info, ...nameBands(info, null, bands) }
}

/** Precedence: the caller's mapping, then the sensor they name, then the file; otherwise a guess from the number of bands. */
function nameBands(info: RasterInfo, storedNames: readonly string[] | null, bands: Bands): Pick<Scene, 'names' | 'sensor'> {
  const sensor = requireSensor(bands.sensor)
  const fileNames = bandNames(info, storedNames)
  const known = normalizeRoles(fileNames).size > 0 ? fileNames : { ...guessNames(info), ...fileNames }
  const mapping = bands.band_mapping ?? {}
  for (const [name, band] of Object.entries(mapping))
    if (band > info.bandCount)
      throw invalidField('band_mapping', `${name} is mapped to band ${band}, which does not exist; ${listBands(fileNames, info.bandCount)}`)
  const ofSensor = sensor && sensor.bands.length <= info.bandCount ? sensorNames(sensor) : {}
  return { names: { ...known, ...ofSensor, ...mapping }, sensor }
}

const guessNames = (info: RasterInfo): BandNames =>
  Object.fromEntries((proposeBands(info, null)?.bands ?? []).flatMap(({ role, index }) => (role ? [[role, index]] : [])))

const SENSOR_IDS = SENSORS.map(({ id }) => id)

export function requireSensor(id: string | null | undefined): Sensor | null {
  if (id == null) return null
  const sensor = findSensor(id)
  if (!sensor)
    throw invalidField(
      'sensor',
      `unknown sensor '${id.slice(0, 50)}'${meant(id, SENSOR_IDS, `known sensors are ${SENSOR_IDS.join(', ')}`)}`,
    )
  return sensor
}
