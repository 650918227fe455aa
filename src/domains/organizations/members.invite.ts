import { problem } from '#core/problem.ts'
import { Choice, Closed, Defaulted, Email } from '#core/shapes.ts'
import { INVITED_ROLES } from '#core/vocabulary.ts'
import * as invitations from '#model/identity/invitation.ts'
import * as memberships from '#model/identity/membership.ts'
import * as organizations from '#model/identity/organization.ts'
import { inviteTask } from '#model/identity/tasks.ts'
import * as users from '#model/identity/user.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_NEW_INVITATION, NewInvitation, toNewInvitation } from '#wire/invitation.ts'

/**
 * Invites a person to the organization. The response contains one link and an email another; the person joins by using
 * either of them, signed in. Inviting an address again creates new links and revokes the older ones.
 */
export default operation({
  id: 'organizations.members.invite',
  scope: 'organizations:write',
  tier: 'compute',
  changesAccess: true,
  input: Closed({
    email: { ...Email, description: 'Email address of the invitee' },
    role: Defaulted(Choice(INVITED_ROLES, { description: 'Role of the new member; only an owner can later make them an owner' }), 'member'),
  }),
  output: Closed({ invitation: NewInvitation }, { description: 'The new invitation' }),
  example: { input: { email: 'ana@example.com', role: 'member' }, output: { invitation: EXAMPLE_NEW_INVITATION } },
}).handle({
  async check({ db, principal }, { email }) {
    memberships.requireSignedIn(principal)
    const organizationId = organizations.requireOrganization(principal)
    organizations.requireAdmin(principal)
    const address = users.normaliseEmail(email)
    if (await organizations.findMemberByEmail(db, organizationId, address))
      throw problem('bad-request', 'This person is already a member; change their role with organizations.members.set_role')
    return { organizationId, address }
  },
  async execute({ tx, principal, clock, tasks, baseUrl }, { role }, { organizationId, address }) {
    const created = await invitations.put(tx, {
      organizationId,
      organizationRole: role,
      project: null,
      email: address,
      invitedBy: principal.userId,
      now: clock.now(),
    })
    await tasks.enqueue(inviteTask, { invitation_id: created.invitation.id })
    return { invitation: toNewInvitation(created, baseUrl) }
  },
})
