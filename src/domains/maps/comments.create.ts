import Type from 'typebox'
import { Closed, Described, Nullable, Uuid } from '#core/shapes.ts'
import * as notifications from '#model/events/notification.ts'
import * as projects from '#model/identity/project.ts'
import * as comments from '#model/imagery/map-comment.ts'
import * as maps from '#model/imagery/map.ts'
import { operation } from '#operation.ts'
import { CommentRecord, CommentText, EXAMPLE_COMMENT, toRecord } from './comments.wire.ts'
import { MapId } from './wire.ts'

/** Of a comment, in a notification. */
const MAX_EXCERPT = 300

/**
 * Comments on a map or one of its annotations; everyone who can read the project of the map can. The map's creator and others who
 * commented are notified. Visitors of a share link see no comments.
 */
export default operation({
  id: 'maps.comments.create',
  scope: 'items:write',
  tier: 'compute',
  input: Closed({
    map_id: MapId,
    annotation_id: Described(Type.Optional(Nullable(Uuid)), 'ID of an annotation of the map; omitted for a comment on the map'),
    text: CommentText,
  }),
  output: CommentRecord,
  example: { input: { map_id: EXAMPLE_COMMENT.map_id, text: EXAMPLE_COMMENT.text }, output: EXAMPLE_COMMENT },
}).handle({
  async check({ db, principal }, { map_id }) {
    const { map, project } = await maps.requireReader(db, principal, map_id)
    projects.requireActive(project)
    return map
  },
  async execute({ tx, principal, clock, attributeTo }, { text, annotation_id }, map) {
    attributeTo(map.organizationId)
    const now = clock.now()
    const given = { text: text.trim(), annotationId: annotation_id?.toLowerCase() ?? null }
    const comment = await comments.insert(tx, principal, map, given, now)
    const userIds = await comments.listeners(tx, map, comment.authorId)
    await notifications.notify(tx, map.organizationId, { userIds, projectId: map.projectId }, [newsOf(map, comment)], now)
    return toRecord(comment)
  },
})

function newsOf({ name }: maps.SavedMap, { id, authorName, text }: comments.MapComment): notifications.NewNotification {
  // By characters, so that none is cut in half.
  const characters = [...text]
  return {
    kind: 'comment',
    title: `${authorName ?? 'An API key'} commented on ${name}`,
    body: characters.length > MAX_EXCERPT ? `${characters.slice(0, MAX_EXCERPT).join('')}…` : text,
    dedupeKey: `comment:${id}`,
  }
}
