/** The peer of bench/pipeline: Fastify, the same queries on the same kind of pool, the same JSON; no credential, no limit, no check. */
import fastify from 'fastify'
import { openDatabase } from '#db/open.ts'
import * as organizations from '#domains/organizations/wire.ts'
import * as projects from '#wire/project.ts'
import * as invitations from '#model/identity/invitation.ts'
import * as organization from '#model/identity/organization.ts'
import * as project from '#model/identity/project.ts'
import { SERVICE } from '#core/principal.ts'

interface Query {
  organization: string
  user: string
  project: string
}

const { db } = openDatabase(process.env['DATABASE_URL']!)
const app = fastify()

app.post<{ Querystring: Query }>('/organizations.get', async ({ query }) =>
  organizations.toRecord(await organization.get(db, query.organization)),
)

app.post<{ Querystring: Query }>('/projects.get', async ({ query }) => {
  const caller = {
    ...SERVICE,
    kind: 'user' as const,
    userId: query.user,
    organizationId: query.organization,
    organizationRole: 'owner' as const,
  }
  const projectRow = await project.requireReader(db, caller, query.project)
  const members = await project.listMembers(db, projectRow.id)
  const invited = await invitations.listOpen(db, projectRow.id, new Date())
  return {
    ...projects.toRecord(projectRow),
    members: [
      ...members.map((member) => projects.toMember(projectRow.id, member)),
      ...invited.map((open) => projects.toInvited(projectRow.id, open)),
    ],
  }
})

console.log(await app.listen({ port: 0, host: '127.0.0.1' }))
