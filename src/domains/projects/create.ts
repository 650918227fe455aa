import Type from 'typebox'
import { Closed, Described, Nullable } from '#core/shapes.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_PROJECT, Name, ProjectRecord, Region, toRecord, Visibility } from '#wire/project.ts'

/** Creates a project with its own storage bucket; the caller becomes its admin. */
export default operation({
  id: 'projects.create',
  scope: 'projects:write',
  tier: 'compute',
  changesAccess: true,
  produces: ['project:created'],
  events: ['project.created'],
  input: Closed({
    name: Described(Name, 'Display name of the project'),
    description: Described(Type.Optional(Nullable(Type.String({ maxLength: 10_000 }))), 'Project description'),
    gcs_region: Described(Type.Optional(Region), "Storage region of the project's files"),
    visibility: Described(Type.Optional(Visibility), 'Who can see the project: the whole organization, or members only'),
  }),
  output: ProjectRecord,
  example: { input: { name: 'Reef monitoring', description: 'Quarterly bleaching survey' }, output: EXAMPLE_PROJECT },
}).handle({
  async check({ principal }) {
    return requireOrganization(principal)
  },
  async execute({ tx, principal, clock, storage, lineage, events }, input, organizationId) {
    const project = await projects.insert(tx, {
      organizationId,
      name: input.name,
      description: input.description ?? null,
      visibility: input.visibility ?? 'organization',
      region: input.gcs_region ?? 'australia-southeast1',
      createdBy: principal.userId,
      now: clock.now(),
    })
    // The last step before the commit: if the commit fails, only an empty, unused bucket remains.
    await storage.createBucket(project.bucketName!)
    lineage.record('project', project.id, 'created')
    const { id, name, visibility, status, created_at } = toRecord(project)
    events.emit('project.created', id, { id, name, visibility, status, created_at })
    return toRecord(project)
  },
})
