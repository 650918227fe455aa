import Type from 'typebox'
import { invalidInput, notFound } from '#core/problem.ts'
import { Closed, Described, Email, Uuid } from '#core/shapes.ts'
import * as invitations from '#model/identity/invitation.ts'
import * as memberships from '#model/identity/membership.ts'
import * as projects from '#model/identity/project.ts'
import * as users from '#model/identity/user.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_MEMBER, EXAMPLE_PROJECT } from '#wire/project.ts'

/** Removes a member from a project, or withdraws an open invitation by its email address. */
export default operation({
  id: 'projects.remove_member',
  scope: 'projects:write',
  tier: 'destructive',
  changesAccess: true,
  input: Closed({
    project_id: Described(Uuid, 'Project ID'),
    user_id: Described(Type.Optional(Uuid), 'User ID of the member to remove'),
    email: Described(Type.Optional(Email), 'Email address of the invitation to withdraw'),
  }),
  output: Closed({ ok: Type.Literal(true, { description: 'Always `true`' }) }, { description: 'Confirmation of the removal' }),
  example: { input: { project_id: EXAMPLE_PROJECT.id, user_id: EXAMPLE_MEMBER.user_id }, output: { ok: true } },
}).handle({
  async check({ db, principal }, { project_id, user_id, email }) {
    if ((user_id === undefined) === (email === undefined))
      throw invalidInput([{ field: 'user_id', message: 'send exactly one of user_id and email' }])
    const project = projects.requireActive(await projects.requireRole(db, principal, project_id, 'admin'))
    if (email !== undefined) memberships.requireSignedIn(principal)
    return project
  },
  async execute({ tx, clock, attributeTo }, { user_id, email }, project) {
    attributeTo(project.organizationId)
    if (user_id !== undefined) {
      await projects.removeMember(tx, project.id, user_id)
      await projects.keepAnAdmin(tx, project.id)
    } else if (!(await invitations.withdraw(tx, project.id, users.normaliseEmail(email!), clock.now()))) throw notFound('invitation')
    return { ok: true as const }
  },
})
