import Type from 'typebox'
import { requireArea as requireGeometry } from '#core/geometry.ts'
import { invalidField } from '#core/problem.ts'
import { Closed, Described, NotBlank, Nullable, Uuid } from '#core/shapes.ts'
import * as organizations from '#model/identity/organization.ts'
import * as projects from '#model/identity/project.ts'
import { operation, type Context } from '#operation.ts'
import { requireProcess } from '#services/processing/catalogue.ts'
import { checkJob, fundJob, permitJob, storeJob } from '#services/processing/jobs.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'
import { CLIP_PROCESS, requireArea } from './clips.lib.ts'
import { requireIntersection } from './intersection.lib.ts'
import { AoiGeometry, AreaId, CreatedClip, EXAMPLE_AOI, EXAMPLE_AREA, EXAMPLE_CREATED, toCreated } from './wire.ts'

/**
 * Clips mosaics of a predefined area. The result is an item in the project that is named, or in the caller's only project. The
 * price is that of `cog_clip` in `processing.catalog.estimate`.
 */
export default operation({
  id: 'clip.create_from_area',
  scope: 'clip:write',
  tier: 'external_spend',
  idempotent: true,
  produces: ['processing_job:created_in>project'],
  events: ['job.created', 'job.started', 'credits.low_balance', 'credits.depleted'],
  input: Closed({
    area: AreaId,
    mosaic_types: Type.Optional(
      Nullable(
        Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
          minItems: 1,
          maxItems: 100,
          uniqueItems: true,
          description: 'Mosaic types to clip; all by default',
        }),
      ),
    ),
    aoi_geometry: AoiGeometry,
    aoi_name: Type.Optional(Nullable(NotBlank(200, { description: 'Name of the area of interest, used to name the result' }))),
    project_id: Type.Optional(Nullable(Described(Uuid, 'ID of the project to save the result in'))),
    organization_id: Type.Optional(Type.String({ description: "Organization ID; defaults to the caller's organization" })),
  }),
  output: CreatedClip,
  example: {
    input: { area: EXAMPLE_AREA.id, mosaic_types: ['rgb'], aoi_geometry: EXAMPLE_AOI, project_id: EXAMPLE_IDS.project },
    output: { ...EXAMPLE_CREATED, asset_keys: ['rgb'] },
  },
}).handle({
  async permit(context, { project_id, organization_id }) {
    if (organization_id !== undefined) organizations.requireNamedOrganization(context.principal, organization_id)
    const projectId = project_id ?? (await onlyProject(context))
    await permitJob(context, projectId)
    return projectId
  },
  async check(context, { area: areaId, mosaic_types, aoi_geometry, aoi_name }, projectId) {
    const area = requireArea(context, areaId)
    const geometry = requireGeometry(aoi_geometry, 'aoi_geometry')
    const mosaics = (mosaic_types ?? area.mosaics.map(({ type }) => type)).map((type) => {
      const mosaic = area.mosaics.find((candidate) => candidate.type === type)
      if (!mosaic)
        throw invalidField(
          'mosaic_types',
          `${area.name} has no mosaic '${type}'; choose from ${area.mosaics.map((available) => available.type).join(', ')}`,
        )
      return mosaic
    })
    const checked = await checkJob(context, {
      process: requireProcess(CLIP_PROCESS),
      projectId,
      params: {
        rasters: mosaics.map(({ type, url }) => ({ key: type, url })),
        geometry,
        output_name: aoi_name ?? `${area.name}, clipped`,
      },
      field: 'mosaic_types',
      origin: 'project',
    })
    await requireIntersection(context, checked.sources, geometry)
    return checked
  },
  prepare: (context, _input, checked) => fundJob(context, checked, 'clip.create_from_area'),
  async execute(context, _input, checked, funding) {
    const job = await storeJob(context, checked, funding, { dispatch: true })
    return toCreated(
      job,
      checked.sources.map(({ key }) => key),
    )
  },
})

/** With only one project, `project_id` can be omitted. */
async function onlyProject({ db, principal }: Pick<Context, 'db' | 'principal'>): Promise<string> {
  organizations.requireOrganization(principal)
  const { projects: visible, total } = await projects.list(db, principal, { includeArchived: false, limit: 2, offset: 0 })
  if (total !== 1) throw invalidField('project_id', 'is required unless you have exactly one project')
  return visible[0]!.id
}
