import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import { isCloudOptimized } from '#raster/ingest/inspect.ts'
import { COG_TYPE } from '#services/ingest/intake.ts'
import { Area, ItemsOutput, OutputName } from '#services/processing/params.ts'
import { process, type OpenSource, type ProducedAsset, type RunContext, type Stage } from '#services/processing/process.ts'
import { bandFields } from '#services/processing/stated.ts'
import { onOwnGrid, warped } from '#services/processing/work.ts'
import { MAX_FILES } from '#services/scenes/open-scene.ts'

/** The files of an open scene, whole and unchanged, or their part inside a polygon; one item with a file for each. */
export default process({
  id: 'scene_copy',
  title: 'Copy an open scene',
  description:
    'Copies the files of an open scene into the project. Whole files are free and unchanged; with a polygon, they are clipped to it.',
  version: '1',
  category: 'conversion',
  input: Closed({
    host_name: Type.String({ minLength: 1, maxLength: 100, description: 'Host name from `catalog.vendors.list`' }),
    scene_id: Type.String({ minLength: 1, maxLength: 300, description: 'Scene ID from a search' }),
    asset_keys: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
        minItems: 1,
        maxItems: MAX_FILES,
        uniqueItems: true,
        description: 'Asset keys of the rasters to copy; all by default',
      }),
    ),
    geometry: Area,
    output_name: OutputName,
  }),
  output: ItemsOutput,
  price: { creditsPerKm2: 0.02, minimumCredits: 5 },
  timeoutMinutes: 120,
  createdBy: 'catalog.scene.copy',
  example: { host_name: 'earth-search', scene_id: 'S2B_55KFA_20260214_0_L2A', asset_keys: ['red', 'nir'] },
}).handle({
  sources: ({ host_name, scene_id, asset_keys }) => [
    { field: 'scene_id', scene: { hostName: host_name, id: scene_id }, assets: asset_keys ?? null },
  ],
  area: ({ geometry }) => (geometry === undefined ? null : { geometry, field: 'geometry' }),
  isFree: ({ geometry }) => geometry === undefined,
  work({ geometry }, sources) {
    const parts = sources.map((source) =>
      geometry === undefined ? onOwnGrid(source, undefined, source.info) : warped(source, { geometry }),
    )
    return {
      reads: parts.reduce((sum, { reads }) => sum + reads, 0),
      rasters: parts.flatMap(({ rasters }) => rasters),
      field: geometry === undefined ? 'assets' : 'area',
    }
  },
  async run(context, { geometry, output_name }, sources) {
    const assets: ProducedAsset[] = []
    for (const [index, source] of sources.entries()) {
      const isClip = geometry !== undefined
      const stage = {
        name: `${isClip ? 'clipping' : 'copying'} ${source.key}`,
        from: index / sources.length,
        to: (index + 1) / sources.length,
      }
      assets.push(assetOf(source, isClip ? await clip(context, source, geometry, stage) : await copy(context, source, stage)))
    }
    const scene = sources[0]!.scene!
    const { datetime, startDatetime, endDatetime, cloudCover, stacId, name, description } = scene
    const properties = Object.fromEntries(Object.entries(scene.properties).filter(([key]) => !key.startsWith('proj:')))
    return {
      items: [
        {
          name: output_name ?? name,
          description,
          type: geometry === undefined ? ('satellite_capture' as const) : ('clip' as const),
          stacId,
          datetime,
          startDatetime,
          endDatetime,
          cloudCover,
          properties,
          assets,
        },
      ],
    }
  },
})

async function clip({ compute }: RunContext, { source }: OpenSource, geometry: unknown, stage: Stage): Promise<string> {
  const { files } = await compute({ method: 'warp', sources: [source], options: { geometry }, outputs: ['data.tif'] }, stage)
  return files['data.tif']!.path
}

/** Files that are not cloud-optimized are converted; the others keep their bytes. */
async function copy({ compute, download }: RunContext, opened: OpenSource, stage: Stage): Promise<string> {
  const { key, source, info } = opened
  if (!isCloudOptimized(info) || !('url' in source)) {
    const { files } = await compute({ method: 'convert', sources: [source], options: {}, outputs: ['data.tif'] }, stage)
    return files['data.tif']!.path
  }
  const stated = statedFields(opened)
  const checksum = stated['file:checksum']
  const { fileSizeBytes } = opened.scene!.assets.find((asset) => asset.key === key)!
  return await download({ key, url: source.url, sizeBytes: fileSizeBytes, checksum: typeof checksum === 'string' ? checksum : null }, stage)
}

const statedFields = ({ key, scene }: OpenSource): Readonly<Record<string, unknown>> =>
  (scene!.assets.find((asset) => asset.key === key)!.raster?.['stac'] ?? {}) as Record<string, unknown>

/** What the catalogue states about the bands stays true; what it states about the file does not. */
function assetOf(opened: OpenSource, path: string): ProducedAsset {
  const { key, info, scene, bandNames } = opened
  const { title, roles } = scene!.assets.find((asset) => asset.key === key)!
  const kept = bandFields(statedFields(opened))
  return {
    key,
    title: title ?? key,
    roles: roles.length > 0 ? roles : ['data'],
    mediaType: COG_TYPE,
    path,
    isCategorical: info.colorTable !== null,
    ...(bandNames ? { bandNames } : {}),
    ...(kept ? { stac: kept } : {}),
  }
}
