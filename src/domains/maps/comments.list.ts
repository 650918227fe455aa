import Type from 'typebox'
import { Closed, Described, Limit, Nullable, Offset, Uuid } from '#core/shapes.ts'
import * as comments from '#model/imagery/map-comment.ts'
import * as maps from '#model/imagery/map.ts'
import { operation } from '#operation.ts'
import { CommentRecord, EXAMPLE_COMMENT, toRecord } from './comments.wire.ts'
import { MapId } from './wire.ts'

/** The comments on a map and its annotations, newest first. */
export default operation({
  id: 'maps.comments.list',
  scope: 'items:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({
    map_id: MapId,
    annotation_id: Described(Type.Optional(Nullable(Uuid)), 'Only comments on this annotation'),
    resolved: Described(Type.Optional(Nullable(Type.Boolean())), 'Only resolved comments, or only open ones; omitted for all'),
    limit: Limit(50, 200),
    offset: Offset,
  }),
  output: Closed({
    comments: Type.Array(CommentRecord, { description: 'Comments, newest first' }),
    count: Type.Integer({ description: 'Number of results returned' }),
    total: Type.Integer({ description: 'Total number of matching results' }),
  }),
  example: { input: { map_id: EXAMPLE_COMMENT.map_id }, output: { comments: [EXAMPLE_COMMENT], count: 1, total: 1 } },
}).handle({
  async execute({ db, principal }, { map_id, annotation_id, resolved, limit, offset }) {
    const { map } = await maps.requireReader(db, principal, map_id)
    const filter = { annotationId: annotation_id ?? null, isResolved: resolved ?? null, limit, offset }
    const found = await comments.list(db, map, filter)
    return { comments: found.comments.map(toRecord), count: found.comments.length, total: found.total }
  },
})
