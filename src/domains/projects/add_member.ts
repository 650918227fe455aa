import Type from 'typebox'
import { accessDenied, invalidInput, notFound } from '#core/problem.ts'
import { Closed, Email, Uuid } from '#core/shapes.ts'
import * as invitation from '#model/identity/invitation.ts'
import * as organization from '#model/identity/organization.ts'
import * as project from '#model/identity/project.ts'
import * as user from '#model/identity/user.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_MEMBER, EXAMPLE_PROJECT, MemberRecord, Role, toInvited, toMember } from '#wire/project.ts'

/** Adds a person by id or by email. An email that the organization does not know becomes an invitation. */
export default operation({
  id: 'projects.add_member',
  scope: 'projects:write',
  tier: 'compute',
  input: Closed({ project_id: Uuid, user_id: Type.Optional(Uuid), email: Type.Optional(Email), role: Type.Optional(Role) }),
  output: MemberRecord,
  example: { input: { project_id: EXAMPLE_PROJECT.id, email: 'ana@example.com', role: 'editor' }, output: EXAMPLE_MEMBER },
}).handle({
  async check({ db, principal }, { project_id, user_id, email }) {
    if ((user_id === undefined) === (email === undefined))
      throw invalidInput([{ field: 'user_id', message: 'give exactly one of user_id and email' }])
    const found = project.requireActive(await project.requireRole(db, principal, project_id, 'admin'))
    const address = email === undefined ? null : user.normaliseEmail(email)
    // Somebody of another organization is added by id as a guest, and by email through an invitation that they accept.
    const person = address ? await organization.findMemberByEmail(db, found.organizationId, address) : await user.find(db, user_id!)
    if (!address && !person) throw notFound('user')
    // An invitation opens the organization too, so it is not a guest's to give.
    if (!person && principal.kind === 'user' && principal.organizationId !== found.organizationId) throw accessDenied()
    return { project: found, address, userId: person ? ('userId' in person ? person.userId : person.id) : null }
  },
  async execute({ tx, principal, clock, attributeTo }, { role = 'editor' }, { project: found, address, userId }) {
    attributeTo(found.organizationId)
    const now = clock.now()
    if (!userId) {
      return toInvited(
        await invitation.put(tx, {
          organizationId: found.organizationId,
          projectId: found.id,
          email: address!,
          role,
          invitedBy: principal.userId,
          now,
        }),
      )
    }
    const before = await project.findMember(tx, found.id, userId)
    await project.putMember(tx, found.id, userId, role, now)
    // The platform opens projects without one; adding takes nothing from them.
    if (before?.role === 'admin') await project.keepAnAdmin(tx, found.id)
    return toMember(found.id, (await project.findMember(tx, found.id, userId))!)
  },
})
