import type { Org, World } from '../../support/world.ts'
import { other, otherProject } from '../makers.ts'
import type { Rows } from '../rows.ts'
import { CHANGES_A_PROJECT, NOBODY, READS_A_PROJECT } from '../statuses.ts'

const given = (_w: World, org: Org) => ({ project_id: org.projectId, name: 'x' })
const map = async (w: World, org: Org) => ({ map_id: (await w.ok(org.owner.token, 'maps.create', given(w, org))).id as string })
const comment = async (w: World, org: Org) => {
  const { map_id } = await map(w, org)
  return { map_id, comment_id: (await w.ok(org.owner.token, 'maps.comments.create', { map_id, text: 'x' })).id as string }
}
const missing = other('map_id')

/** Whoever can read the project writes comments, if their credential may write at all. */
const COMMENTS_ON_A_PROJECT = { ...CHANGES_A_PROJECT, a: `${NOBODY} | 200 200 200 200 | 404 404 | 403 200 403 | 403 200 200 404` }

export const rows: Rows = {
  'maps.comments.create': {
    ...COMMENTS_ON_A_PROJECT,
    input: async (w, org) => ({ ...(await map(w, org)), text: 'x' }),
    missing,
    breaks: 'table map_comment',
  },
  'maps.comments.delete': { ...CHANGES_A_PROJECT, input: comment, missing, breaks: 'table map_comment' },
  'maps.comments.list': { ...READS_A_PROJECT, input: map, missing, breaks: 'table map_comment' },
  'maps.comments.update': {
    ...CHANGES_A_PROJECT,
    input: async (w, org) => ({ ...(await comment(w, org)), resolved: true }),
    missing,
    breaks: 'column map_comment.resolved_at',
  },
  'maps.create': { ...CHANGES_A_PROJECT, input: given, missing: otherProject, breaks: 'table map' },
  'maps.delete': { ...CHANGES_A_PROJECT, input: map, missing, breaks: 'table map' },
  'maps.get': { ...READS_A_PROJECT, input: map, missing, breaks: 'table map' },
  'maps.list': { ...READS_A_PROJECT, input: (_w, org) => ({ project_id: org.projectId }), missing: otherProject, breaks: 'table map' },
  'maps.update': {
    ...CHANGES_A_PROJECT,
    input: async (w, org) => ({ ...(await map(w, org)), name: 'y' }),
    missing,
    breaks: 'column map.updated_at',
  },
}
