import { Closed, Described, Uuid } from '#core/shapes.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_MEMBER, EXAMPLE_PROJECT, MemberRecord, Role, toMember } from '#wire/project.ts'

/** Changes a project member's role; the last admin cannot be demoted. */
export default operation({
  id: 'projects.update_member',
  scope: 'projects:write',
  tier: 'compute',
  changesAccess: true,
  input: Closed({
    project_id: Described(Uuid, 'Project ID'),
    user_id: Described(Uuid, 'User ID of the member'),
    role: Described(Role, 'Role in the project'),
  }),
  output: MemberRecord,
  example: { input: { project_id: EXAMPLE_PROJECT.id, user_id: EXAMPLE_MEMBER.user_id, role: 'editor' }, output: EXAMPLE_MEMBER },
}).handle({
  async check({ db, principal }, { project_id }) {
    return projects.requireActive(await projects.requireRole(db, principal, project_id, 'admin'))
  },
  async execute({ tx, attributeTo }, { user_id, role }, project) {
    attributeTo(project.organizationId)
    await projects.setMemberRole(tx, project.id, user_id, role)
    await projects.keepAnAdmin(tx, project.id)
    return toMember(project.id, (await projects.findMember(tx, project.id, user_id))!)
  },
})
