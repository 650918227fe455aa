import Type from 'typebox'
import { invalidField } from '#core/problem.ts'
import { Choice, Closed, Defaulted } from '#core/shapes.ts'
import * as mosaics from '#model/imagery/mosaic.ts'
import { toFeature } from '#model/imagery/stac.ts'
import type { RasterSource } from '#ports/raster.ts'
import { COG_TYPE } from '#services/ingest/intake.ts'
import { openTable } from '#wire/stac-parquet.ts'
import { cloudBandsOf, cloudRequest } from '#services/processing/clouds.ts'
import { Epsg, Items, manySources, Resolution, acquiredAt } from '#services/processing/many.ts'
import { indexExpression } from '#services/processing/names.ts'
import { Area, AssetKey, Bands, EXAMPLE_ITEM_ID, ItemsOutput, Method, OutputName } from '#services/processing/params.ts'
import { process, type Computed, type OpenSource, type RunContext } from '#services/processing/process.ts'
import { timesOf } from '#services/processing/single.ts'
import { onCommonGrid, readsOf } from '#services/processing/work.ts'

/** Share of the run spent on cloud masks, if they are computed. */
const CLOUD_SHARE = 0.4
const PARQUET_TYPE = 'application/vnd.apache.parquet'
const CHOICES = ['first', 'brightest', 'darkest', 'median', 'most_recent', 'highest_index'] as const

/** Many scenes as one raster, with a source index per pixel. */
export default process({
  id: 'mosaic',
  title: 'Mosaic',
  description:
    'Combines scenes into one raster, with a source index per pixel. Each pixel comes from one scene, in all bands: the first, the ' +
    'brightest, the darkest, the most recent, the one nearest to the median, or the one with the highest index.',
  version: '1',
  category: 'time',
  input: Closed({
    item_ids: Items,
    asset_key: AssetKey,
    method: Defaulted(Choice(CHOICES), 'first', { description: 'How the scene of each pixel is chosen' }),
    index_name: Type.Optional(Type.String({ minLength: 1, maxLength: 50, description: 'Index that highest_index compares; default ndvi' })),
    cloud_asset_key: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description: 'Asset key of the cloud mask of each item; cloudy pixels are excluded',
      }),
    ),
    cloud_aware: Defaulted(Type.Boolean(), false, {
      description: 'Whether to exclude clouds: by cloud_asset_key or, without one, by a mask computed as in cloud_mask',
    }),
    cloud_values: Type.Optional(
      Type.Array(Type.Integer(), {
        minItems: 1,
        maxItems: 100,
        description: 'Values of the cloud mask that mean cloud; defaults to all but 0',
      }),
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
    if (other > 0) throw invalidField(`item_ids.${other}`, 'must have the same number of bands and data type as the first item')
    if (method === 'highest_index') indexExpression(index_name, first!, { field: 'index_name' })
    if (cloud_values && cloud_asset_key === undefined) throw invalidField('cloud_values', 'requires cloud_asset_key')
    if (cloud_aware && cloud_asset_key === undefined) for (const scene of scenes) cloudBandsOf(scene, 'cloud_aware')
  },
  work({ item_ids, cloud_aware, cloud_asset_key, bands, epsg, resolution, geometry }, sources) {
    const { bandCount, dataType } = sources[0]!.info
    const grid = { ...(epsg === undefined ? {} : { epsg }), ...(resolution === undefined ? {} : { resolution }), geometry }
    const grids = onCommonGrid(sources, grid, [
      { bandCount: bands?.length ?? bandCount, dataType },
      { bandCount: 1, dataType: 'uint16' },
    ])
    const cloudReads = cloud_aware && cloud_asset_key === undefined ? readsOf(sources.slice(0, item_ids.length)) : 0
    return { ...grids, reads: grids.reads + cloudReads }
  },
  async run({ compute, computeEach, partCount, saveFile }, params, sources) {
    const count = params.item_ids.length
    const order = orderOf(params.method, sources.slice(0, count))
    const scenes = order.map((index) => sources[index]!)
    const computesClouds = params.cloud_aware && params.cloud_asset_key === undefined
    const clouds = computesClouds
      ? await cloudsOf({ compute, computeEach, partCount }, scenes)
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
      { name: 'combining scenes', from: computesClouds ? CLOUD_SHARE : 0 },
    )
    const lookup = scenes.map(({ item }, index) => ({
      value: index + 1,
      item_id: item!.id,
      scene_id: item!.stacId,
      pixels: (result['pixelsOfScenes'] as number[])[index],
    }))
    const name = params.output_name ?? `Mosaic of ${count} items, ${method.replaceAll('_', ' ')}`
    const mosaicItem = {
      ...timesOf(scenes),
      name,
      type: 'mosaic' as const,
      defaultCollection: mosaics.MOSAICS,
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
      assets: assetsOf(scenes, files, await saveFile('source_manifest.parquet', manifestOf(scenes)), bands),
    }
    return { items: [mosaicItem], summary: { scenes: lookup, pixels_without_data: result['pixelsWithoutData'] } }
  },
})

/** Computes a cloud mask of each scene, as temporary files of the run. */
async function cloudsOf(
  { compute, computeEach, partCount }: Pick<RunContext, 'compute' | 'computeEach' | 'partCount'>,
  scenes: readonly OpenSource[],
): Promise<RasterSource[]> {
  const requests = scenes.map((scene) => cloudRequest(scene, 'cloud_aware'))
  const name = 'detecting clouds'
  if (partCount <= scenes.length) return (await computeEach(requests, { name, to: CLOUD_SHARE })).map(({ files }) => files['data.tif']!)
  // A few large scenes: the rows of one after another.
  const masks: RasterSource[] = []
  const share = (done: number) => (CLOUD_SHARE * done) / scenes.length
  for (const [index, request] of requests.entries()) {
    const { files } = await compute(request, { name, from: share(index), to: share(index + 1) })
    masks.push({ path: files['data.tif']!.path })
  }
  return masks
}

const sceneOf = ({ item }: OpenSource, index: number) => ({ value: index + 1, sceneId: item!.stacId, collection: item!.collectionId })

/** The mosaic, the source index of each pixel, and the source scenes. */
function assetsOf(scenes: readonly OpenSource[], files: Computed['files'], manifest: string, bands: readonly number[] | undefined) {
  const names = bands ? undefined : (scenes[0]!.bandNames ?? undefined)
  const path = files['data.tif']!.path
  return [
    { key: 'data', title: 'Mosaic', roles: ['data'], mediaType: COG_TYPE, path, ...(names ? { bandNames: names } : {}) },
    {
      key: 'provenance',
      title: 'Source index of each pixel',
      roles: ['data', 'provenance'],
      mediaType: COG_TYPE,
      path: files['source_index.tif']!.path,
      isCategorical: true,
      stac: mosaics.classesOf(scenes.map(sceneOf)),
    },
    {
      key: 'source_manifest',
      title: 'Source scenes',
      roles: ['metadata', 'source-manifest'],
      mediaType: PARQUET_TYPE,
      path: manifest,
    },
  ]
}

/** The source scenes as STAC-GeoParquet, in the order of their source index. */
function manifestOf(scenes: readonly OpenSource[]): Uint8Array {
  const rows = scenes.map(({ item }) => ({ ...toFeature(item!, [], { baseUrl: '', links: 'none' }), links: [] }))
  const table = openTable(rows)
  return Buffer.concat([table.rows(rows), table.end()])
}

/** Indices of the scenes in order of preference. */
function orderOf(method: (typeof CHOICES)[number], scenes: readonly OpenSource[]): number[] {
  const indices = scenes.map((_, index) => index)
  return method === 'most_recent' ? indices.toSorted((a, b) => acquiredAt(scenes[b]!) - acquiredAt(scenes[a]!) || a - b) : indices
}
