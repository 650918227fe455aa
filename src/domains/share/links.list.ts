import Type from 'typebox'
import { Closed, Described, Limit, Nullable, Offset, Uuid } from '#core/shapes.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import * as projects from '#model/identity/project.ts'
import * as shareLinks from '#model/sharing/share-link.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_LINK, LinkRecord, Target, TargetId, toRecord } from './wire.ts'

/** Lists links of projects that the caller can edit, including expired and revoked ones, newest first, without tokens. */
export default operation({
  id: 'share.links.list',
  scope: 'shares:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({
    project_id: Described(Type.Optional(Nullable(Uuid)), 'Only links of this project'),
    target_type: Described(Type.Optional(Nullable(Target)), 'Only links to objects of this type'),
    target_id: Described(Type.Optional(Nullable(TargetId)), 'Only links to this object'),
    limit: Limit(100, 1_000),
    offset: Offset,
  }),
  output: Closed({
    share_links: Type.Array(LinkRecord, { description: 'Share links, newest first' }),
    count: Type.Integer({ description: 'Number of results returned' }),
    total: Type.Integer({ description: 'Total number of matching results' }),
  }),
  example: {
    input: { target_type: 'item', target_id: EXAMPLE_LINK.target_id },
    output: { share_links: [EXAMPLE_LINK], count: 1, total: 1 },
  },
}).handle({
  async check({ db, principal }, { project_id }) {
    if (project_id) await projects.requireRole(db, principal, project_id, 'editor')
    else requireOrganization(principal)
  },
  async execute({ db, principal }, input) {
    const { links, total } = await shareLinks.list(db, principal, {
      projectId: input.project_id ?? null,
      targetType: input.target_type ?? null,
      targetId: input.target_id ?? null,
      limit: input.limit,
      offset: input.offset,
    })
    return { share_links: links.map(toRecord), count: links.length, total }
  },
})
