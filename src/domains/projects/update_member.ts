import { Closed, Described, Uuid } from '#core/shapes.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_MEMBER, EXAMPLE_PROJECT, MemberRecord, Role, toMember } from '#wire/project.ts'

/** Changes the role of a project member; the last admin stays one. */
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
  async execute({ tx, attributeTo }, { user_id, role }, found) {
    attributeTo(found.organizationId)
    await projects.setMemberRole(tx, found.id, user_id, role)
    await projects.keepAnAdmin(tx, found.id)
    return toMember(found.id, (await projects.findMember(tx, found.id, user_id))!)
  },
})
