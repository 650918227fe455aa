import Type from 'typebox'
import { Closed, Described, Limit, Nullable, Offset, Uuid } from '#core/shapes.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import * as projects from '#model/identity/project.ts'
import * as maps from '#model/imagery/map.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_MAP_SUMMARY, SummaryRecord, toSummary } from './wire.ts'

/** The maps of a project, or of all projects that the caller can read, last changed first. */
export default operation({
  id: 'maps.list',
  scope: 'items:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({
    project_id: Described(Type.Optional(Nullable(Uuid)), 'Only maps of this project'),
    limit: Limit(50, 200),
    offset: Offset,
  }),
  output: Closed({
    maps: Type.Array(SummaryRecord, { description: 'Maps, last changed first' }),
    count: Type.Integer({ description: 'Number of results returned' }),
    total: Type.Integer({ description: 'Total number of matching results' }),
  }),
  example: { input: { project_id: EXAMPLE_MAP_SUMMARY.project_id }, output: { maps: [EXAMPLE_MAP_SUMMARY], count: 1, total: 1 } },
}).handle({
  async check({ db, principal }, { project_id }) {
    if (project_id != null) return { projectId: (await projects.requireReader(db, principal, project_id)).id }
    return { organizationId: requireOrganization(principal), hiddenProjectIds: await projects.hiddenFrom(db, principal) }
  },
  async execute({ db }, { limit, offset }, where) {
    const found = await maps.list(db, { where, limit, offset })
    return { maps: found.maps.map(toSummary), count: found.maps.length, total: found.total }
  },
})
