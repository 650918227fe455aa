import Type from 'typebox'
import { GeoJsonArea } from '#core/geojson-shapes.ts'
import { problem } from '#core/problem.ts'
import { Closed, Described, NotBlank, Nullable, Uuid } from '#core/shapes.ts'
import * as projects from '#model/identity/project.ts'
import * as jobs from '#model/processing/job.ts'
import * as savedScenes from '#model/scenes/saved-scene.ts'
import { operation } from '#operation.ts'
import { requireProcess } from '#services/processing/catalogue.ts'
import { checkJob, fundJob, permitJob, storeJob } from '#services/processing/jobs.ts'
import { requireOpenSource } from '#services/scenes/open-scene.ts'
import { ItemId } from '#wire/ids.ts'
import { EXAMPLE_JOB, JobRecord, toJob } from '#wire/job.ts'
import { HostName, SceneAssets, SceneId } from './wire.ts'

/**
 * Copies the files of an open scene into a project, as a job whose result is one item. Whole files are free and count as storage; clipped
 * to an area, they cost what `cog_clip` costs. Copying the same files again returns the same job.
 */
export default operation({
  id: 'catalog.scene.copy',
  scope: 'processing:process',
  tier: 'external_spend',
  idempotent: true,
  produces: ['processing_job:created_in>project'],
  events: ['job.created', 'credits.low_balance', 'credits.depleted'],
  input: Closed({
    host_name: HostName,
    id: SceneId,
    project_id: Described(Uuid, 'ID of the project to copy to; it must have a storage bucket'),
    collection_id: Described(Type.Optional(Nullable(ItemId)), 'ID of the collection to add the item to'),
    assets: SceneAssets,
    area: Type.Optional(
      Nullable(Described(GeoJsonArea, 'Area to clip the files to: GeoJSON Polygon or MultiPolygon; whole files by default')),
    ),
    name: Type.Optional(Nullable(NotBlank(200, { description: "Display name of the item; defaults to the scene's" }))),
  }),
  output: Closed(
    { job: JobRecord, created: Type.Boolean({ description: '`false` if these files were copied before, or are being copied' }) },
    { description: 'The job that copies the files' },
  ),
  example: {
    input: { host_name: 'earth-search', id: 'S2B_55KFA_20260214_0_L2A', project_id: EXAMPLE_JOB.project_id, assets: ['red', 'nir'] },
    output: {
      job: { ...EXAMPLE_JOB, job_type: 'scene_copy', job_type_id: 'scene_copy', source_item_ids: [], reserved_credits: 0 },
      created: true,
    },
  },
}).handle({
  permit: (context, { project_id }) => permitJob(context, project_id),
  async check(context, { host_name, id, collection_id, assets, area, name }, project) {
    requireOpenSource(context.vendors, host_name)
    const params = {
      host_name,
      scene_id: id,
      ...(assets ? { asset_keys: assets.toSorted() } : {}),
      ...(area ? { geometry: area } : {}),
      ...(name ? { output_name: name } : {}),
    }
    const checked = await checkJob(context, {
      process: requireProcess('scene_copy'),
      projectId: project.id,
      params,
      field: 'area',
      targetCollectionId: collection_id ?? null,
      origin: 'project',
    })
    const { stacId, properties } = checked.sources[0]!.scene!
    const variant = savedScenes.copyVariant({ assets: checked.sources.map((source) => source.key), area: area ?? null })
    const key = { hostName: host_name, collection: String(properties['svc:scene_collection']), sceneId: stacId, variant }
    return { checked, key, isSaved: (await liveJob(context.db, project.id, key)) !== null }
  },
  prepare: async (context, _input, { checked, isSaved }) => (isSaved ? null : await fundJob(context, checked, 'catalog.scene.copy')),
  async execute(context, _input, { checked, key }, funding) {
    const { tx, clock, lineage, attributeTo } = context
    const { id: projectId, organizationId } = checked.project
    attributeTo(organizationId)
    await projects.lock(tx, projectId)
    const saved = await liveJob(tx, projectId, key)
    if (saved || !funding) {
      lineage.nothingProduced()
      if (!saved) throw problem('bad-request', 'The earlier copy of this scene was deleted concurrently; try again')
      return { job: toJob(saved), created: false }
    }
    const job = await storeJob(context, checked, funding, { dispatch: true })
    await savedScenes.put(tx, { organizationId, projectId, savedSearchId: null, now: clock.now() }, key, { jobId: job.id })
    return { job: toJob(job), created: true }
  },
})

/** The job that copies or has copied the files, unless it failed or its item was deleted. */
async function liveJob(db: Parameters<typeof savedScenes.find>[0], projectId: string, key: savedScenes.SceneKey): Promise<jobs.Job | null> {
  const saved = await savedScenes.find(db, projectId, key)
  const jobId = saved && savedScenes.idOf(saved)
  return jobId ? await jobs.find(db, jobId) : null
}
