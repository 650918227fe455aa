/** What a team writes about a map or one of its annotations. Comments end with their map; visitors of a share link never see them. */
import { isUuid, newId } from '#core/ids.ts'
import type { Principal } from '#core/principal.ts'
import { invalidField, notFound, problem } from '#core/problem.ts'
import type { Joined } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import * as maps from './map.ts'

export const MAX_PER_MAP = 1_000

type OfMap = Pick<maps.SavedMap, 'organizationId' | 'id'>

function commentRows(db: Db, { organizationId, id }: OfMap) {
  return db
    .selectFrom('map_comment as c')
    .leftJoin('app_user as u', 'u.id', 'c.author_id')
    .select([
      'c.id',
      'c.map_id as mapId',
      'c.annotation_id as annotationId',
      'c.text',
      'c.author_id as authorId',
      'u.name as authorName',
      'c.created_at as createdAt',
      'c.edited_at as editedAt',
      'c.resolved_at as resolvedAt',
    ])
    .where('c.org_id', '=', organizationId)
    .where('c.map_id', '=', id)
}

export type MapComment = Joined<typeof commentRows>

/** 404 if it is not on this map. */
export async function requireOn(db: Db, map: OfMap, id: string): Promise<MapComment> {
  const row = isUuid(id) ? await commentRows(db, map).where('c.id', '=', id).executeTakeFirst() : undefined
  if (!row) throw notFound('comment')
  return row
}

/** Whether the caller wrote it. Nobody is the author of what was written with an API key. */
export const isAuthor = (principal: Principal, { authorId }: MapComment): boolean =>
  principal.kind === 'user' && authorId === principal.userId

interface Filter {
  annotationId: string | null
  isResolved: boolean | null
  limit: number
  offset: number
}

/** Newest first. */
export async function list(
  db: Db,
  map: OfMap,
  { annotationId, isResolved, limit, offset }: Filter,
): Promise<{ comments: MapComment[]; total: number }> {
  const among = commentRows(db, map)
    .$if(annotationId !== null, (query) => query.where('c.annotation_id', '=', annotationId))
    .$if(isResolved !== null, (query) => query.where('c.resolved_at', isResolved ? 'is not' : 'is', null))
  const { total } = await among
    .clearSelect()
    .select((e) => e.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  const comments = await among.orderBy('c.created_at', 'desc').orderBy('c.id', 'desc').limit(limit).offset(offset).execute()
  return { comments, total }
}

/** The annotation must be on the map as it is saved now. The lock of the map keeps concurrent calls within the limit. */
export async function insert(
  tx: Tx,
  principal: Principal,
  map: OfMap,
  { text, annotationId }: { text: string; annotationId: string | null },
  now: Date,
): Promise<MapComment> {
  const { content } = await maps.lock(tx, map)
  if (annotationId !== null && !content.annotations.some(({ id }) => id === annotationId))
    throw invalidField('annotation_id', 'is not an annotation of this map')
  const { used } = await tx
    .selectFrom('map_comment')
    .select((e) => e.fn.countAll<number>().as('used'))
    .where('org_id', '=', map.organizationId)
    .where('map_id', '=', map.id)
    .executeTakeFirstOrThrow()
  if (used >= MAX_PER_MAP)
    throw problem('bad-request', `This map has ${used} of ${MAX_PER_MAP} comments. Delete those you no longer need.`, {
      members: { used, limit: MAX_PER_MAP },
    })
  const id = newId()
  await tx
    .insertInto('map_comment')
    .values({
      org_id: map.organizationId,
      map_id: map.id,
      id,
      annotation_id: annotationId,
      text,
      author_id: principal.kind === 'user' ? principal.userId : null,
      created_at: now,
    })
    .execute()
  return await requireOn(tx, map, id)
}

interface CommentChange {
  text?: string
  isResolved?: boolean
}

/** What is resolved already keeps its time. */
export async function update(tx: Tx, map: OfMap, comment: MapComment, { text, isResolved }: CommentChange, now: Date): Promise<MapComment> {
  const { numUpdatedRows } = await tx
    .updateTable('map_comment')
    .set({
      ...(text === undefined ? {} : { text, edited_at: now }),
      ...(isResolved === undefined ? {} : { resolved_at: isResolved ? (comment.resolvedAt ?? now) : null }),
    })
    .where('org_id', '=', map.organizationId)
    .where('map_id', '=', map.id)
    .where('id', '=', comment.id)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw notFound('comment')
  return await requireOn(tx, map, comment.id)
}

export async function remove(tx: Tx, map: OfMap, id: string): Promise<void> {
  const { numDeletedRows } = await tx
    .deleteFrom('map_comment')
    .where('org_id', '=', map.organizationId)
    .where('map_id', '=', map.id)
    .where('id', '=', id)
    .executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound('comment')
}

/** Who is told about a new comment: the map's creator and everyone who commented on it, except the author of the comment. */
export async function listeners(
  tx: Tx,
  { organizationId, id, createdBy }: OfMap & { createdBy: string | null },
  author: string | null,
): Promise<string[]> {
  const rows = await tx
    .selectFrom('map_comment')
    .select('author_id as userId')
    .distinct()
    .where('org_id', '=', organizationId)
    .where('map_id', '=', id)
    .execute()
  const people = new Set([createdBy, ...rows.map(({ userId }) => userId)])
  return [...people].filter((userId) => userId !== null && userId !== author) as string[]
}
