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
 * Adds a member of the organization, by id or by email. An email that is no member's becomes an invitation, whose link is in
 * this answer and, as another, in a mail: the person joins organization and project when they accept it, and not before.
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
      throw invalidInput([{ field: 'user_id', message: 'give exactly one of user_id and email' }])
    const found = projects.requireActive(await projects.requireRole(db, principal, project_id, 'admin'))
    const address = email === undefined ? null : users.normaliseEmail(email)
    const member = address
      ? await organizations.findMemberByEmail(db, found.organizationId, address)
      : await organizations.findMember(db, found.organizationId, user_id!)
    if (!address && !member) throw notFound('user')
    // An invitation opens the organization too, so neither a key nor a guest can send one.
    if (!member) memberships.requireSignedIn(principal)
    if (!member && principal.kind === 'user' && principal.organizationId !== found.organizationId) throw accessDenied()
    return { project: found, address, userId: member?.userId ?? null }
  },
  async execute({ tx, principal, clock, tasks, baseUrl, attributeTo }, { role = 'editor' }, { project: found, address, userId }) {
    attributeTo(found.organizationId)
    const now = clock.now()
    if (!userId) {
      const made = await invitations.put(tx, {
        organizationId: found.organizationId,
        organizationRole: 'member',
        project: { id: found.id, role },
        email: address!,
        invitedBy: principal.userId,
        now,
      })
      await tasks.enqueue(inviteTask, { invitation_id: made.invitation.id })
      return { ...toInvited(found.id, made.invitation), invitation: toNewInvitation(made, baseUrl) }
    }
    const before = await projects.findMember(tx, found.id, userId)
    await projects.putMember(tx, found.id, userId, role, now)
    // The platform opens projects without one; adding takes nothing from them.
    if (before?.role === 'admin') await projects.keepAnAdmin(tx, found.id)
    return toMember(found.id, (await projects.findMember(tx, found.id, userId))!)
  },
})
