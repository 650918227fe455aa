import { hash, randomBytes } from 'node:crypto'
import { sql, type SqlBool } from 'kysely'
import { isUuid, newId } from '#core/ids.ts'
import { isOrganizationAdmin, type Principal } from '#core/principal.ts'
import { notFound } from '#core/problem.ts'
import type { SharePermission, ShareTarget } from '#core/vocabulary.ts'
import { listed, type Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import * as projects from '#model/identity/project.ts'

const COLUMNS = [
  'id',
  'org_id as organizationId',
  'project_id as projectId',
  'target_type as targetType',
  'target_id as targetId',
  'item_seq as itemSeq',
  'collection_id as collectionId',
  'map_id as mapId',
  'permission',
  'is_public as isPublic',
  'expires_at as expiresAt',
  'revoked_at as revokedAt',
  'access_count as accessCount',
  'last_accessed_at as lastAccessedAt',
  'created_by as createdBy',
  'created_at as createdAt',
] as const

export type ShareLink = Row<'share_link', typeof COLUMNS>

/** The prefix lets logs redact a token wherever it appears. */
const TOKEN_PREFIX = 'shr_'
const TOKEN_BYTES = 32

function newToken(): string {
  return TOKEN_PREFIX + randomBytes(TOKEN_BYTES).toString('base64url')
}

/** The token has enough entropy that a fast hash is safe. */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

/** The subject under which failed passwords are counted, whether the token exists or not. */
export function attemptsOn(tokenHash: Buffer): string {
  return `share:${tokenHash.toString('hex')}`
}

/** What opening a link requires: the record, its password hash, and whether its target can be shown. */
export interface Known {
  link: ShareLink
  passwordHash: string
  /** False if the target is deleted or past its retention. */
  isTargetLive: boolean
  /** False for a link without a password whose organization does not allow them any more. */
  isAllowed: boolean
}

interface LookedUp {
  known: Known | null
  /** Of the latest window, even if it has passed. */
  attempts: { used: number; startedAt: Date } | null
}

type KnownRow = ShareLink & { passwordHash: string; isTargetLive: boolean; isAllowed: boolean }

const KNOWN = sql`
  ${listed(COLUMNS, 'l')}, l.password_hash as "passwordHash", not l.is_public or o.allows_public_links as "isAllowed",
  case when l.target_type = 'item' then i.deleted_at is null and i.lifecycle_state not in ('expired', 'deleted')
    when l.target_type = 'map' then m.id is not null else c.deleted_at is null end as "isTargetLive"`
const TARGETS = sql`left join item i on i.seq = l.item_seq left join collection c on c.id = l.collection_id
  left join map m on m.org_id = l.org_id and m.id = l.map_id
  left join organization o on o.id = l.org_id`

/** One query for many callers, because many visitors open the same map. */
export async function byTokens(db: Db, hashes: readonly Buffer[]): Promise<LookedUp[]> {
  const { rows } = await sql<KnownRow & { used: number | null; startedAt: Date | null }>`
    select ${KNOWN}, w.used, w.started_at as "startedAt"
    from unnest(${hashes}::bytea[]) with ordinality as asked (hash, n)
    left join share_link l on l.token_hash = asked.hash
    ${TARGETS}
    left join rate_window w on w.subject = 'share:' || encode(asked.hash, 'hex')
    order by asked.n
  `.execute(db)
  return rows.map(({ used, startedAt, ...row }) => ({ known: toKnown(row), attempts: startedAt ? { used: used!, startedAt } : null }))
}

export async function byIds(db: Db, ids: readonly string[]): Promise<(Known | null)[]> {
  const { rows } = await sql<KnownRow>`
    select ${KNOWN} from unnest(${ids}::uuid[]) with ordinality as asked (id, n) left join share_link l on l.id = asked.id ${TARGETS}
      order by asked.n
  `.execute(db)
  return rows.map(toKnown)
}

function toKnown({ passwordHash, isTargetLive, isAllowed, ...link }: KnownRow): Known | null {
  return link.id === null ? null : { link, passwordHash, isTargetLive, isAllowed }
}

interface NewShareLink {
  organizationId: string
  projectId: string
  target: { type: 'item'; id: string; itemSeq: number } | { type: 'collection' | 'map'; id: string }
  permission: SharePermission
  /** Of a random password if the link is public. */
  passwordHash: string
  isPublic: boolean
  expiresAt: Date
  createdBy: string | null
  /** The user, or the owner of the API key. */
  creatorId: string | null
  now: Date
}

export async function insert(tx: Tx, request: NewShareLink): Promise<{ link: ShareLink; token: string }> {
  const token = newToken()
  const { target } = request
  const link = await tx
    .insertInto('share_link')
    .values({
      id: newId(),
      org_id: request.organizationId,
      project_id: request.projectId,
      token_hash: hashToken(token),
      password_hash: request.passwordHash,
      target_type: target.type,
      target_id: target.id,
      item_seq: target.type === 'item' ? target.itemSeq : null,
      collection_id: target.type === 'collection' ? target.id : null,
      map_id: target.type === 'map' ? target.id : null,
      permission: request.permission,
      is_public: request.isPublic,
      expires_at: request.expiresAt,
      created_by: request.createdBy,
      creator_id: request.creatorId,
      created_at: request.now,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
  return { link, token }
}

/**
 * For callers who can revoke it: 404 if the caller cannot see its project, 403 below editor. Links of an archived project can be
 * revoked too.
 */
export async function requireEditor(db: Db, principal: Principal, id: string): Promise<ShareLink> {
  const link = isUuid(id) ? await db.selectFrom('share_link').select(COLUMNS).where('id', '=', id).executeTakeFirst() : undefined
  if (!link || !(await projects.exists(db, principal, link.projectId))) throw notFound('share link')
  await projects.requireRole(db, principal, link.projectId, 'editor')
  if (link.revokedAt) throw notFound('share link')
  return link
}

export async function revoke(tx: Tx, id: string, now: Date): Promise<void> {
  const result = await tx
    .updateTable('share_link')
    .set({ revoked_at: now })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  if (result.numUpdatedRows === 0n) throw notFound('share link')
}

export async function revokeAllOf(tx: Tx, organizationId: string, now: Date): Promise<void> {
  await tx.updateTable('share_link').set({ revoked_at: now }).where('org_id', '=', organizationId).where('revoked_at', 'is', null).execute()
}

export async function revokeAllBy(tx: Tx, userId: string, now: Date): Promise<void> {
  await tx.updateTable('share_link').set({ revoked_at: now }).where('creator_id', '=', userId).where('revoked_at', 'is', null).execute()
}

/** Counts views, with one update per link. This is telemetry: a link that was just revoked is still counted. */
export async function countOpenings(db: Db, ids: readonly string[], now: Date): Promise<void> {
  await sql`
    update share_link l set access_count = l.access_count + opened.n, last_accessed_at = greatest(l.last_accessed_at, ${now})
    from (select id, count(*) as n from unnest(${ids}::uuid[]) as each (id) group by id) as opened
    where l.id = opened.id and l.revoked_at is null
  `.execute(db)
}

interface LinkFilter {
  projectId: string | null
  targetType: ShareTarget | null
  targetId: string | null
  limit: number
  offset: number
}

/** Links of projects where the caller is editor or admin, newest first. */
export async function list(db: Db, principal: Principal, filter: LinkFilter): Promise<{ links: ShareLink[]; total: number }> {
  const wholeOrganization = principal.kind === 'service' || isOrganizationAdmin(principal)
  const everything = principal.kind === 'service' && principal.organizationId === null
  const edits = db
    .selectFrom('project_member')
    .select('project_id')
    .where('user_id', '=', principal.userId)
    .where('role', 'in', ['editor', 'admin'])
  const editable = db
    .selectFrom('share_link')
    .where('project_id', 'not in', db.selectFrom('project').select('id').where('deleted_at', 'is not', null))
    .$if(!everything, (query) =>
      query.where((where) =>
        where.or([
          wholeOrganization ? where('org_id', '=', principal.organizationId) : sql<SqlBool>`false`,
          principal.kind === 'user'
            ? where('project_id', 'in', edits)
            : where.and([where('org_id', '=', principal.organizationId), where('project_id', 'in', edits)]),
        ]),
      ),
    )
    .$if(filter.projectId !== null, (query) => query.where('project_id', '=', filter.projectId))
    .$if(filter.targetType !== null, (query) => query.where('target_type', '=', filter.targetType!))
    .$if(filter.targetId !== null, (query) => query.where('target_id', '=', filter.targetId))
  const { total } = await editable.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  const links = await editable
    .select(COLUMNS)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(filter.limit)
    .offset(filter.offset)
    .execute()
  return { links, total }
}
