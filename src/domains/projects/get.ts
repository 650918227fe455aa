import { Closed, Described, Uuid } from '#core/shapes.ts'
import * as invitations from '#model/identity/invitation.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_MEMBER, EXAMPLE_PROJECT, ProjectWithMembers, toInvited, toMember, toRecord } from '#wire/project.ts'

/** One project with its members and what it stores. Those who may manage members see open invitations too. */
export default operation({
  id: 'projects.get',
  scope: 'items:read',
  tier: 'read',
  input: Closed({ project_id: Described(Uuid, 'Project ID') }),
  output: ProjectWithMembers,
  example: { input: { project_id: EXAMPLE_PROJECT.id }, output: { ...EXAMPLE_PROJECT, members: [EXAMPLE_MEMBER] } },
}).handle({
  async check({ db, principal }, { project_id }) {
    return await projects.requireReader(db, principal, project_id)
  },
  async execute({ db, clock }, _input, found) {
    const members = await projects.listMembers(db, found.id)
    const invited = found.role === 'admin' ? await invitations.listOpen(db, found.id, clock.now()) : []
    return {
      ...toRecord(found),
      members: [...members.map((member) => toMember(found.id, member)), ...invited.map((open) => toInvited(found.id, open))],
    }
  },
})
