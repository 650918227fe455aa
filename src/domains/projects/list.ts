import Type from 'typebox'
import { Closed, Defaulted, Limit, Offset } from '#core/shapes.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_PROJECT, ProjectRecord, toRecord } from '#wire/project.ts'

/** Lists the projects that the caller can see, newest first. */
export default operation({
  id: 'projects.list',
  scope: 'items:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({
    include_archived: Defaulted(Type.Boolean(), false, { description: 'Whether to include archived projects' }),
    limit: Limit(100, 1000),
    offset: Offset,
  }),
  output: Closed({
    projects: Type.Array(ProjectRecord, { description: 'Projects the caller can see' }),
    total: Type.Integer({ description: 'Total number of matching results' }),
  }),
  example: { input: {}, output: { projects: [EXAMPLE_PROJECT], total: 1 } },
}).handle({
  async check({ principal }) {
    requireOrganization(principal)
  },
  async execute({ db, principal }, { include_archived, limit, offset }) {
    const { projects: page, total } = await projects.list(db, principal, { includeArchived: include_archived, limit, offset })
    return { projects: page.map(toRecord), total }
  },
})
