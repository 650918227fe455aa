import Type from 'typebox'
import { invalidField } from '#core/problem.ts'
import { Choice, Closed, Defaulted } from '#core/shapes.ts'
import * as mosaics from '#model/imagery/mosaic.ts'
import { toFeature } from '#model/imagery/stac.ts'
import type { RasterSource } from '#ports/raster.ts'
import { COG_TYPE } from '#services/ingest/intake.ts'
import { openTable } from '#wire/stac-parquet.ts'
import { cloudBandsOf, cloudRequest } from '#services/processing/clouds.ts'
import { Epsg, Items, manySources, Resolution, takenAt } from '#services/processing/many.ts'
import { indexExpression } from '#services/processing/names.ts'
import { Area, AssetKey, Bands, EXAMPLE_ITEM_ID, ItemsOutput, Method, OutputName } from '#services/processing/params.ts'
import { process, type Computed, type OpenSource, type RunContext } from '#services/processing/process.ts'
import { timesOf } from '#services/processing/single.ts'
import { onCommonGrid, readsOf } from '#services/processing/work.ts'

/** Of the whole run, where clouds have to be found first. */
const CLOUD_SHARE = 0.4
const PARQUET_TYPE = 'application/vnd.apache.parquet'
const CHOICES = ['first', 'brightest', 'darkest', 'median', 'most_recent', 'highest_index'] as const

/** One raster of many, with a second one that says which scene stands where. */
export default process({
  id: 'mosaic',
  title: 'Mosaic',
  description:
    'Puts many items together. Each pixel is that of one scene, in all its bands: the first, the brightest, the darkest, the most ' +
    'recent, the one nearest to the median, or the one with the highest index. A second raster holds the number of that scene.',
  version: '1',
  category: 'time',
  input: Closed({
    item_ids: Items,
    asset_key: AssetKey,
    method: Defaulted(Choice(CHOICES), 'first', { description: 'Which scene a pixel is taken from' }),
    index_name: Type.Optional(
      Type.String({ minLength: 1, maxLength: 50, description: 'The index that highest_index compares; ndvi by default' }),
    ),
    cloud_asset_key: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description: 'An asset of each item that says where it is cloudy; such pixels are left out of the choice',
      }),
    ),
    cloud_aware: Defaulted(Type.Boolean(), false, {
      description: 'Leave clouds out: by cloud_asset_key, or without one by the colours of each scene, as cloud_mask finds them',
    }),
    cloud_values: Type.Optional(
      Type.Array(Type.Integer(), { minItems: 1, maxItems: 100, description: 'Values of that asset that are clouds; all but 0 by default' }),
    ),
    bands: Bands,
    epsg: Epsg,
    resolution: Resolution,
    resampling: Method('nearest'),
    geometry: Area,
    output_name: OutputName,
  }),
  output: ItemsOutput,
  price: { creditsPerKm2: 0.01, minimumCredits: 10 },
  timeoutMinutes: 240,
  example: { item_ids: [EXAMPLE_ITEM_ID], method: 'median' },
}).handle({
  sources: ({ cloud_asset_key, ...params }) => {
    const scenes = manySources(params)
    return cloud_asset_key === undefined ? scenes : [...scenes, ...manySources({ item_ids: params.item_ids, asset_key: cloud_asset_key })]
  },
  area: ({ geometry }) => ({ geometry, field: 'geometry' }),
  check({ item_ids, method, index_name = 'ndvi', cloud_aware, cloud_asset_key, cloud_values }, sources) {
    const scenes = sources.slice(0, item_ids.length)
    const [first] = scenes
    const other = scenes.findIndex(({ info }) => info.bandCount !== first!.info.bandCount || info.dataType !== first!.info.dataType)
    if (other > 0) throw invalidField(`item_ids.${other}`, 'has other bands or another data type than the first item')
    if (method === 'highest_index') indexExpression(index_name, first!, { field: 'index_name' })
    if (cloud_values && cloud_asset_key === undefined) throw invalidField('cloud_values', 'is for the values of cloud_asset_key')
    if (cloud_aware && cloud_asset_key === undefined) for (const scene of scenes) cloudBandsOf(scene, 'cloud_aware')
  },
  work({ item_ids, cloud_aware, cloud_asset_key, bands, epsg, resolution, geometry }, sources) {
    const { bandCount, dataType } = sources[0]!.info
    const grid = { ...(epsg === undefined ? {} : { epsg }), ...(resolution === undefined ? {} : { resolution }), geometry }
    const made = onCommonGrid(sources, grid, [
      { bandCount: bands?.length ?? bandCount, dataType },
      { bandCount: 1, dataType: 'uint16' },
    ])
    const lookedAt = cloud_aware && cloud_asset_key === undefined ? readsOf(sources.slice(0, item_ids.length)) : 0
    return { ...made, reads: made.reads + lookedAt }
  },
  async run({ compute, keep }, params, sources) {
    const count = params.item_ids.length
    const order = orderOf(params.method, sources.slice(0, count))
    const scenes = order.map((index) => sources[index]!)
    const finding = params.cloud_aware && params.cloud_asset_key === undefined
    const clouds = finding
      ? await cloudsOf(compute, scenes)
      : params.cloud_asset_key === undefined
        ? []
        : order.map((index) => sources[count + index]!.source)
    const { method, index_name = 'ndvi', bands, epsg, resolution, resampling, geometry, cloud_values } = params
    const options = {
      choice: method === 'most_recent' ? 'first' : method === 'highest_index' ? 'highest' : method,
      ...(method === 'highest_index' ? { expression: indexExpression(index_name, scenes[0]!, { field: 'index_name' }) } : {}),
      hasCloudMasks: clouds.length > 0,
      cloudValues: cloud_values,
      bands,
      epsg,
      resolution,
      resampling,
      geometry,
    }
    const rasters = [...scenes.map(({ source }) => source), ...clouds]
    const { files, result } = await compute(
      { method: 'mosaic', sources: rasters, options, outputs: ['data.tif', 'source_index.tif'] },
      { name: 'putting together', from: finding ? CLOUD_SHARE : 0 },
    )
    const lookup = scenes.map(({ item }, index) => ({
      value: index + 1,
      item_id: item!.id,
      scene_id: item!.stacId,
      pixels: (result['pixelsOfScenes'] as number[])[index],
    }))
    const name = params.output_name ?? `Mosaic of ${count} items, ${method.replaceAll('_', ' ')}`
    const made = {
      ...timesOf(scenes),
      name,
      type: 'mosaic' as const,
      home: mosaics.MOSAICS,
      properties: mosaics.propertiesOf({
        name,
        method,
        sourceCollections: [...new Set(scenes.map(({ item }) => item!.collectionId ?? item!.projectId))],
        sourceSceneCount: count,
        dataType: scenes[0]!.info.dataType,
        bandCount: bands?.length ?? scenes[0]!.info.bandCount,
        bandRoles: null,
        lookup: null,
      }),
      assets: assetsOf(scenes, files, await keep('source_manifest.parquet', manifestOf(scenes)), bands),
    }
    return { items: [made], summary: { scenes: lookup, pixels_without_data: result['pixelsWithoutData'] } }
  },
})

/** A mask of each scene, as files that are removed with the rest of the run. */
async function cloudsOf(compute: RunContext['compute'], scenes: readonly OpenSource[]): Promise<RasterSource[]> {
  const masks: RasterSource[] = []
  const share = (done: number) => (CLOUD_SHARE * done) / scenes.length
  for (const [index, scene] of scenes.entries()) {
    const stage = { name: 'looking for clouds', from: share(index), to: share(index + 1) }
    const { files } = await compute(cloudRequest(scene, 'cloud_aware'), stage)
    masks.push({ path: files['data.tif']!.path })
  }
  return masks
}

const sceneOf = ({ item }: OpenSource, index: number) => ({ value: index + 1, sceneId: item!.stacId, collection: item!.collectionId })

/** The pixels, the number of the scene in each of them, and the scenes themselves. */
function assetsOf(scenes: readonly OpenSource[], files: Computed['files'], manifest: string, bands: readonly number[] | undefined) {
  const names = bands ? undefined : (scenes[0]!.bandNames ?? undefined)
  const path = files['data.tif']!.path
  return [
    { key: 'data', title: 'Mosaic', roles: ['data'], mediaType: COG_TYPE, path, ...(names ? { bandNames: names } : {}) },
    {
      key: 'provenance',
      title: 'Number of the scene in each pixel',
      roles: ['data', 'provenance'],
      mediaType: COG_TYPE,
      path: files['source_index.tif']!.path,
      isCategorical: true,
      stac: mosaics.classesOf(scenes.map(sceneOf)),
    },
    {
      key: 'source_manifest',
      title: 'The source scenes',
      roles: ['metadata', 'source-manifest'],
      mediaType: PARQUET_TYPE,
      path: manifest,
    },
  ]
}

/** Every source scene as STAC-GeoParquet, in the order of their numbers. */
function manifestOf(scenes: readonly OpenSource[]): Uint8Array {
  const rows = scenes.map(({ item }) => ({ ...toFeature(item!, [], { baseUrl: '', links: 'none' }), links: [] }))
  const table = openTable(rows)
  return Buffer.concat([table.rows(rows), table.end()])
}

/** Places of the scenes in the order of preference. */
function orderOf(method: (typeof CHOICES)[number], scenes: readonly OpenSource[]): number[] {
  const places = scenes.map((_, index) => index)
  return method === 'most_recent' ? places.toSorted((a, b) => takenAt(scenes[b]!) - takenAt(scenes[a]!) || a - b) : places
}
