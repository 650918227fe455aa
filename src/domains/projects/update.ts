import Type from 'typebox'
import { Closed, Described, Nullable, Uuid } from '#core/shapes.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_PROJECT, Name, ProjectRecord, toRecord, Visibility } from '#wire/project.ts'

/** Updates the given fields of a project; a null description clears it. */
export default operation({
  id: 'projects.update',
  scope: 'projects:write',
  tier: 'compute',
  changesAccess: true,
  input: Closed({
    project_id: Described(Uuid, 'Project ID'),
    name: Described(Type.Optional(Nullable(Name)), 'Display name of the project'),
    description: Described(Type.Optional(Nullable(Type.String({ maxLength: 10_000 }))), 'Project description'),
    visibility: Described(Type.Optional(Nullable(Visibility)), 'Who can see the project: the whole organization, or members only'),
    is_archived: Described(Type.Optional(Nullable(Type.Boolean())), 'Whether the project is archived and read-only'),
  }),
  output: ProjectRecord,
  example: { input: { project_id: EXAMPLE_PROJECT.id, name: 'Reef monitoring' }, output: EXAMPLE_PROJECT },
}).handle({
  async check({ db, principal }, { project_id, is_archived }) {
    const project = await projects.requireRole(db, principal, project_id, 'admin')
    return is_archived === false ? project : projects.requireActive(project)
  },
  async execute({ tx, clock, attributeTo }, input, project) {
    attributeTo(project.organizationId)
    return toRecord(await projects.update(tx, project, projects.toChange(input), clock.now()))
  },
})
