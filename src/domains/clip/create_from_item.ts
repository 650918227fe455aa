import Type from 'typebox'
import { requireArea } from '#core/geometry.ts'
import { Closed, Described, NotBlank, Nullable, Uuid } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { requireProcess } from '#services/processing/catalogue.ts'
import { checkJob, fundJob, permitJob, storeJob } from '#services/processing/jobs.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'
import { ItemId } from '#wire/ids.ts'
import { CLIP_PROCESS } from './clips.lib.ts'
import { requireIntersection } from './intersection.lib.ts'
import { AoiGeometry, CreatedClip, EXAMPLE_AOI, EXAMPLE_CREATED, toCreated } from './wire.ts'

const Label = NotBlank(200)

/**
 * Clips an item's rasters to an area, each to a COG, in a job that is already running when it is returned. The price is that of
 * `cog_clip` in `processing.catalog.estimate`; the result is registered as an item of the project.
 */
export default operation({
  id: 'clip.create_from_item',
  scope: 'processing:process',
  tier: 'external_spend',
  idempotent: true,
  produces: ['processing_job:used>item'],
  events: ['job.created', 'job.started', 'credits.low_balance', 'credits.depleted'],
  input: Closed({
    source_item_id: Described(ItemId, 'ID of the item to clip'),
    project_id: Described(Uuid, 'ID of the project to save the result in; it must have a storage bucket'),
    aoi_geometry: AoiGeometry,
    asset_keys: Type.Optional(
      Nullable(
        Type.Array(Label, {
          minItems: 1,
          maxItems: 100,
          uniqueItems: true,
          description: 'Asset keys of the rasters to clip; all by default',
        }),
      ),
    ),
    aoi_name: Type.Optional(Nullable(Described(Label, 'Name of the area of interest, used to name the result'))),
    output_name: Type.Optional(Nullable(Described(Label, 'Name of the result'))),
    target_collection_id: Type.Optional(Nullable(Described(Uuid, 'ID of the collection to add the result to'))),
  }),
  output: CreatedClip,
  example: {
    input: { source_item_id: EXAMPLE_IDS.item, project_id: EXAMPLE_IDS.project, aoi_geometry: EXAMPLE_AOI, asset_keys: ['data'] },
    output: EXAMPLE_CREATED,
  },
}).handle({
  permit: (context, { project_id }) => permitJob(context, project_id),
  async check(context, { source_item_id, project_id, aoi_geometry, asset_keys, aoi_name, output_name, target_collection_id }) {
    const geometry = requireArea(aoi_geometry, 'aoi_geometry')
    const name = output_name ?? aoi_name
    const checked = await checkJob(context, {
      process: requireProcess(CLIP_PROCESS),
      projectId: project_id,
      params: { item_id: source_item_id, geometry, ...(asset_keys ? { asset_keys } : {}), ...(name ? { output_name: name } : {}) },
      field: 'source_item_id',
      targetCollectionId: target_collection_id,
    })
    await requireIntersection(context, checked.sources, geometry)
    return checked
  },
  prepare: (context, _input, checked) => fundJob(context, checked, 'clip.create_from_item'),
  async execute(context, _input, checked, funding) {
    const job = await storeJob(context, checked, funding, { dispatch: true })
    return toCreated(
      job,
      checked.sources.map(({ key }) => key),
    )
  },
})
