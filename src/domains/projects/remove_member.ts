import Type from 'typebox'
import { invalidInput, notFound } from '#core/problem.ts'
import { Closed, Email, Uuid } from '#core/shapes.ts'
import * as invitation from '#model/identity/invitation.ts'
import * as membership from '#model/identity/membership.ts'
import * as project from '#model/identity/project.ts'
import * as user from '#model/identity/user.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_MEMBER, EXAMPLE_PROJECT } from '#wire/project.ts'

/** Takes a person out of a project, or withdraws an open invitation by its email. */
export default operation({
  id: 'projects.remove_member',
  scope: 'projects:write',
  tier: 'destructive',
  input: Closed({ project_id: Uuid, user_id: Type.Optional(Uuid), email: Type.Optional(Email) }),
  output: Closed({ ok: Type.Literal(true) }),
  example: { input: { project_id: EXAMPLE_PROJECT.id, user_id: EXAMPLE_MEMBER.user_id }, output: { ok: true } },
}).handle({
  async check({ db, principal }, { project_id, user_id, email }) {
    if ((user_id === undefined) === (email === undefined))
      throw invalidInput([{ field: 'user_id', message: 'give exactly one of user_id and email' }])
    const found = project.requireActive(await project.requireRole(db, principal, project_id, 'admin'))
    if (email !== undefined) membership.requireSignedIn(principal)
    return found
  },
  async execute({ tx, clock, attributeTo }, { user_id, email }, found) {
    attributeTo(found.organizationId)
    if (user_id !== undefined) {
      await project.removeMember(tx, found.id, user_id)
      await project.keepAnAdmin(tx, found.id)
    } else if (!(await invitation.withdraw(tx, found.id, user.normaliseEmail(email!), clock.now()))) throw notFound('invitation')
    return { ok: true as const }
  },
})
