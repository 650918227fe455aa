import Type from 'typebox'
import { accessDenied, invalidInput, notFound } from '#core/problem.ts'
import { Closed, Described, Email, Uuid } from '#core/shapes.ts'
import * as invitations from '#model/identity/invitation.ts'
import * as memberships from '#model/identity/membership.ts'
import * as organizations from '#model/identity/organization.ts'
import * as projects from '#model/identity/project.ts'
import { inviteTask } from '#model/identity/tasks.ts'
import * as users from '#model/identity/user.ts'
import { operation } from '#operation.ts'
import { toNewInvitation } from '#wire/invitation.ts'
import { AddedMember, EXAMPLE_MEMBER, EXAMPLE_PROJECT, Role, toInvited, toMember } from '#wire/project.ts'

/**
 * Adds a member of the organization by user ID or email address. Any other address is invited: the response contains one
 * link and an email another, and the person joins organization and project by accepting.
 */
export default operation({
  id: 'projects.add_member',
  scope: 'projects:write',
  tier: 'compute',
  changesAccess: true,
  input: Closed({
    project_id: Described(Uuid, 'Project ID'),
    user_id: Described(Type.Optional(Uuid), 'User ID of the new member'),
    email: Described(Type.Optional(Email), 'Email address to invite'),
    role: Described(Type.Optional(Role), 'Role in the project'),
  }),
  output: AddedMember,
  example: { input: { project_id: EXAMPLE_PROJECT.id, email: 'ana@example.com', role: 'editor' }, output: EXAMPLE_MEMBER },
}).handle({
  async check({ db, principal }, { project_id, user_id, email }) {
    if ((user_id === undefined) === (email === undefined))
      throw invalidInput([{ field: 'user_id', message: 'send exactly one of user_id and email' }])
    const project = projects.requireActive(await projects.requireRole(db, principal, project_id, 'admin'))
    const address = email === undefined ? null : users.normaliseEmail(email)
    const member = address
      ? await organizations.findMemberByEmail(db, project.organizationId, address)
      : await organizations.findMember(db, project.organizationId, user_id!)
    if (!address && !member) throw notFound('user')
    // An invitation admits to the organization too, so neither an API key nor a guest can send one.
    if (!member) memberships.requireSignedIn(principal)
    if (!member && principal.kind === 'user' && principal.organizationId !== project.organizationId) throw accessDenied()
    return { project, address, userId: member?.userId ?? null }
  },
  async execute({ tx, principal, clock, tasks, baseUrl, attributeTo }, { role = 'editor' }, { project, address, userId }) {
    attributeTo(project.organizationId)
    const now = clock.now()
    if (!userId) {
      const invited = await invitations.put(tx, {
        organizationId: project.organizationId,
        organizationRole: 'member',
        project: { id: project.id, role },
        email: address!,
        invitedBy: principal.userId,
        now,
      })
      await tasks.enqueue(inviteTask, { invitation_id: invited.invitation.id })
      return { ...toInvited(project.id, invited.invitation), invitation: toNewInvitation(invited, baseUrl) }
    }
    const before = await projects.findMember(tx, project.id, userId)
    await projects.putMember(tx, project.id, userId, role, now)
    // Projects that the platform created have no admin, so this checks only when an admin is demoted.
    if (before?.role === 'admin') await projects.keepAnAdmin(tx, project.id)
    return toMember(project.id, (await projects.findMember(tx, project.id, userId))!)
  },
})
