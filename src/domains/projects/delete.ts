import Type from 'typebox'
import { Closed, Described, Uuid } from '#core/shapes.ts'
import { endProject } from '#model/imagery/project-end.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_PROJECT } from '#wire/project.ts'

/** Soft-deletes a project with its contents and frees their storage in the organization's quota. */
export default operation({
  id: 'projects.delete',
  scope: 'projects:write',
  tier: 'destructive',
  changesAccess: true,
  events: ['item.deleted'],
  input: Closed({ project_id: Described(Uuid, 'Project ID') }),
  output: Closed(
    {
      deleted: Type.Literal(true, { description: 'Always `true`' }),
      project_id: Described(Uuid, 'Project ID'),
      storage_freed_bytes: Type.Integer({ description: 'Storage freed, in bytes' }),
    },
    { description: 'Confirmation of the deletion' },
  ),
  example: { input: { project_id: EXAMPLE_PROJECT.id }, output: { deleted: true, project_id: EXAMPLE_PROJECT.id, storage_freed_bytes: 0 } },
}).handle({
  async check({ db, principal }, { project_id }) {
    return await projects.requireRole(db, principal, project_id, 'admin')
  },
  async execute({ tx, clock, invocationId, attributeTo }, _input, project) {
    attributeTo(project.organizationId)
    const { storageBytes } = await endProject(tx, project, { invocationId, now: clock.now() })
    return { deleted: true as const, project_id: project.id, storage_freed_bytes: storageBytes }
  },
})
