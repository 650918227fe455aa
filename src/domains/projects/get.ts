import { Closed, Described, Uuid } from '#core/shapes.ts'
import * as invitations from '#model/identity/invitation.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_MEMBER, EXAMPLE_PROJECT, ProjectWithMembers, toInvited, toMember, toRecord } from '#wire/project.ts'

/** Returns a project with its members and storage. Project admins also see open invitations. */
export default operation({
  id: 'projects.get',
  scope: 'items:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({ project_id: Described(Uuid, 'Project ID') }),
  output: ProjectWithMembers,
  example: { input: { project_id: EXAMPLE_PROJECT.id }, output: { ...EXAMPLE_PROJECT, members: [EXAMPLE_MEMBER] } },
}).handle({
  async check({ db, principal }, { project_id }) {
    return await projects.requireReader(db, principal, project_id)
  },
  async execute({ db, clock }, _input, project) {
    const members = await projects.listMembers(db, project.id)
    const invitationsOfProject = project.role === 'admin' ? await invitations.listOpen(db, project.id, clock.now()) : []
    return {
      ...toRecord(project),
      members: [
        ...members.map((member) => toMember(project.id, member)),
        ...invitationsOfProject.map((invitation) => toInvited(project.id, invitation)),
      ],
    }
  },
})
