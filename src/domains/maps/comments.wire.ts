/** Comments on a map as callers send and receive them. */
import Type from 'typebox'
import { Closed, Described, NotBlank, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import type { MapComment } from '#model/imagery/map-comment.ts'
import { EXAMPLE_AT, EXAMPLE_IDS } from '#wire/examples.ts'
import { EXAMPLE_MAP } from './wire.ts'

export const CommentId = Type.String({ minLength: 1, maxLength: 100, description: 'Comment ID' })
export const CommentText = NotBlank(2_000, { description: 'Text of the comment, without markup' })

export const CommentRecord = Closed(
  {
    id: Described(Uuid, 'Comment ID'),
    map_id: Described(Uuid, 'Map ID'),
    annotation_id: Described(
      Nullable(Uuid),
      'ID of the annotation, which may have been removed from the map since; null for a comment on the map',
    ),
    text: Type.String({ description: 'Text of the comment, without markup' }),
    author_id: Described(Nullable(Uuid), 'User ID of the author; null if written with an API key'),
    author_name: Described(Nullable(Type.String()), 'Name of the author; null if written with an API key'),
    created_at: Described(Timestamp, 'Creation time'),
    edited_at: Described(Nullable(Timestamp), 'Time of the last change of the text; null if it never changed'),
    resolved: Type.Boolean({ description: 'Whether the comment is resolved' }),
    resolved_at: Described(Nullable(Timestamp), 'Time at which the comment was resolved; null if it is open'),
  },
  { $id: 'MapComment', description: 'A comment on a map or on one of its annotations' },
)

export const toRecord = (comment: MapComment) => ({
  id: comment.id,
  map_id: comment.mapId,
  annotation_id: comment.annotationId,
  text: comment.text,
  author_id: comment.authorId,
  author_name: comment.authorName,
  created_at: comment.createdAt.toISOString(),
  edited_at: comment.editedAt?.toISOString() ?? null,
  resolved: comment.resolvedAt !== null,
  resolved_at: comment.resolvedAt?.toISOString() ?? null,
})

export const EXAMPLE_COMMENT = {
  id: '0199f2dd-2222-7000-8000-000000000001',
  map_id: EXAMPLE_MAP.id,
  annotation_id: null,
  text: 'Is the northern edge still in the water?',
  author_id: EXAMPLE_IDS.user,
  author_name: 'Ana Silva',
  created_at: EXAMPLE_AT,
  edited_at: null,
  resolved: false,
  resolved_at: null,
}
