import Type from 'typebox'
import { Closed, Described, Nullable, Uuid } from '#core/shapes.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_PROJECT, Name, ProjectRecord, toRecord } from '#wire/project.ts'

/** Makes a project read-only and hides it from lists; `is_archived: false` restores it. */
export default operation({
  id: 'projects.archive',
  scope: 'projects:write',
  tier: 'compute',
  changesAccess: true,
  input: Closed({
    project_id: Described(Uuid, 'Project ID'),
    name: Described(Type.Optional(Nullable(Name)), 'Display name of the project'),
    description: Described(Type.Optional(Nullable(Type.String({ maxLength: 10_000 }))), 'Project description'),
    is_archived: Described(Type.Optional(Nullable(Type.Boolean())), 'Whether the project is archived and read-only'),
  }),
  output: ProjectRecord,
  example: {
    input: { project_id: EXAMPLE_PROJECT.id },
    output: { ...EXAMPLE_PROJECT, status: 'archived', is_archived: true, archived_at: '2026-06-01T08:00:00.000Z' },
  },
}).handle({
  async check({ db, principal }, { project_id }) {
    return await projects.requireRole(db, principal, project_id, 'admin')
  },
  async execute({ tx, clock, attributeTo }, input, project) {
    attributeTo(project.organizationId)
    return toRecord(
      await projects.update(tx, project, projects.toChange({ ...input, is_archived: input.is_archived ?? true }), clock.now()),
    )
  },
})
