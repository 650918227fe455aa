import { accessDenied } from '#core/problem.ts'
import { Closed, Removed } from '#core/shapes.ts'
import * as projects from '#model/identity/project.ts'
import * as comments from '#model/imagery/map-comment.ts'
import * as maps from '#model/imagery/map.ts'
import { operation } from '#operation.ts'
import { CommentId, EXAMPLE_COMMENT } from './comments.wire.ts'
import { MapId } from './wire.ts'

/** Deletes a comment. Only its author and admins of the project can. */
export default operation({
  id: 'maps.comments.delete',
  scope: 'items:write',
  tier: 'destructive',
  input: Closed({ map_id: MapId, comment_id: CommentId }),
  output: Removed,
  example: {
    input: { map_id: EXAMPLE_COMMENT.map_id, comment_id: EXAMPLE_COMMENT.id },
    output: { ok: true, id: EXAMPLE_COMMENT.id },
  },
}).handle({
  async check({ db, principal }, { map_id, comment_id }) {
    const { map, project } = await maps.requireReader(db, principal, map_id)
    const comment = await comments.requireOn(db, map, comment_id)
    projects.requireActive(project)
    if (project.role !== 'admin' && !comments.isAuthor(principal, comment)) throw accessDenied()
    return { map, comment }
  },
  async execute({ tx, attributeTo }, _input, { map, comment }) {
    attributeTo(map.organizationId)
    await comments.remove(tx, map, comment.id)
    return { ok: true as const, id: comment.id }
  },
})
