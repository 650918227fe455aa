import Type from 'typebox'
import { accessDenied, problem } from '#core/problem.ts'
import { Closed, Described, Nullable } from '#core/shapes.ts'
import * as projects from '#model/identity/project.ts'
import * as comments from '#model/imagery/map-comment.ts'
import * as maps from '#model/imagery/map.ts'
import { operation } from '#operation.ts'
import { CommentId, CommentRecord, CommentText, EXAMPLE_COMMENT, toRecord } from './comments.wire.ts'
import { MapId } from './wire.ts'

/** Changes the text of a comment, which only its author can, or resolves or reopens it, which editors of the project can. */
export default operation({
  id: 'maps.comments.update',
  scope: 'items:write',
  tier: 'compute',
  input: Closed({
    map_id: MapId,
    comment_id: CommentId,
    text: Type.Optional(Nullable(CommentText)),
    resolved: Described(Type.Optional(Nullable(Type.Boolean())), 'Whether the comment is resolved'),
  }),
  output: CommentRecord,
  example: {
    input: { map_id: EXAMPLE_COMMENT.map_id, comment_id: EXAMPLE_COMMENT.id, resolved: true },
    output: { ...EXAMPLE_COMMENT, resolved: true, resolved_at: '2026-03-02T08:00:00.000Z' },
  },
}).handle({
  async check({ db, principal }, { map_id, comment_id, text, resolved }) {
    const { map, project } = await maps.requireReader(db, principal, map_id)
    const comment = await comments.requireOn(db, map, comment_id)
    projects.requireActive(project)
    if (text == null && resolved == null) throw problem('bad-request', 'Nothing to change; send text or resolved')
    if (text != null && !comments.isAuthor(principal, comment)) throw accessDenied()
    if (resolved != null) await projects.requireRole(db, principal, project.id, 'editor')
    return { map, comment }
  },
  async execute({ tx, clock, attributeTo }, { text, resolved }, { map, comment }) {
    attributeTo(map.organizationId)
    const change = { ...(text == null ? {} : { text: text.trim() }), ...(resolved == null ? {} : { isResolved: resolved }) }
    return toRecord(await comments.update(tx, map, comment, change, clock.now()))
  },
})
