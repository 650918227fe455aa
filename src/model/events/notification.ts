import { sql, type RawBuilder } from 'kysely'
import { isUuid } from '#core/ids.ts'
import { notFound } from '#core/problem.ts'
import type { NotificationKind } from '#core/vocabulary.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import { mayRead, RIGHTS } from './audience.ts'

const COLUMNS = [
  'id',
  'org_id as organizationId',
  'kind',
  'title',
  'body',
  'created_at as createdAt',
  'read_at as readAt',
  'dismissed_at as dismissedAt',
] as const

export type Notification = Row<'notification', typeof COLUMNS>

export interface NewNotification {
  kind: NotificationKind
  title: string
  body: string
  /** Notifies each user once per key; null notifies every time. */
  dedupeKey: string | null
  /** Already sent by a separate email. */
  isMailed?: true
}

/** One user, those among several who can read a project, or the organization's owners and admins. */
type Audience = { userId: string } | { userIds: readonly string[]; projectId: string } | 'admins'

/** Creates notifications in the transaction of the change they report. */
export async function notify(
  db: Db | Tx,
  organizationId: string,
  audience: Audience,
  news: readonly NewNotification[],
  now: Date,
): Promise<void> {
  if (news.length === 0) return
  const people = peopleOf(organizationId, audience)
  await sql`
    insert into notification (id, user_id, org_id, kind, title, body, dedupe_key, created_at, mailed_at)
    select gen_random_uuid(), p.user_id, ${organizationId}, n.kind, n.title, n.body, n.dedupe_key, ${now}::timestamptz,
      case when n.is_mailed then ${now}::timestamptz end
    from (${people}) p cross join unnest(
      ${news.map(({ kind }) => kind)}::text[], ${news.map(({ title }) => title)}::text[], ${news.map(({ body }) => body)}::text[],
      ${news.map(({ dedupeKey }) => dedupeKey)}::text[], ${news.map(({ isMailed }) => isMailed ?? false)}::boolean[]
    ) as n (kind, title, body, dedupe_key, is_mailed)
    on conflict (user_id, dedupe_key) where dedupe_key is not null do nothing
  `.execute(db)
}

function peopleOf(organizationId: string, audience: Audience): RawBuilder<unknown> {
  if (audience === 'admins')
    return sql`select user_id from organization_member where org_id = ${organizationId} and role in ('owner', 'admin')`
  if ('userId' in audience) return sql`select ${audience.userId}::uuid as user_id`
  return sql`
    select w.user_id
    from (select ${organizationId}::uuid as org_id, given.user_id from unnest(${audience.userIds}::uuid[]) as given (user_id)) w
    cross join (select ${audience.projectId}::uuid as project_id) e ${RIGHTS} where ${mayRead}
  `
}

/** Newest first, without dismissed ones. */
export async function list(
  db: Db,
  userId: string,
  window: { unreadOnly: boolean; limit: number; offset: number },
): Promise<Notification[]> {
  return await db
    .selectFrom('notification')
    .select(COLUMNS)
    .where('user_id', '=', userId)
    .where('dismissed_at', 'is', null)
    .$if(window.unreadOnly, (query) => query.where('read_at', 'is', null))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(window.limit)
    .offset(window.offset)
    .execute()
}

export async function unreadCount(db: Db, userId: string): Promise<number> {
  const { count } = await db
    .selectFrom('notification')
    .select((e) => e.fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .where('read_at', 'is', null)
    .where('dismissed_at', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}

/** 404 if it is another user's, unknown or already read. */
export async function markRead(tx: Tx, userId: string | null, id: string, now: Date): Promise<Notification> {
  return await mark(tx, userId, id, { read_at: now }, 'read_at')
}

export async function dismiss(tx: Tx, userId: string | null, id: string, now: Date): Promise<Notification> {
  return await mark(tx, userId, id, { dismissed_at: now }, 'dismissed_at')
}

async function mark(
  tx: Tx,
  userId: string | null,
  id: string,
  change: { read_at: Date } | { dismissed_at: Date },
  column: 'read_at' | 'dismissed_at',
): Promise<Notification> {
  const row =
    userId !== null && isUuid(id)
      ? await tx
          .updateTable('notification')
          .set(change)
          .where('id', '=', id)
          .where('user_id', '=', userId)
          .where(column, 'is', null)
          .returning(COLUMNS)
          .executeTakeFirst()
      : undefined
  if (!row) throw notFound('notification')
  return row
}

export async function markAllRead(tx: Tx, userId: string, now: Date): Promise<number> {
  const result = await tx
    .updateTable('notification')
    .set({ read_at: now })
    .where('user_id', '=', userId)
    .where('read_at', 'is', null)
    .where('dismissed_at', 'is', null)
    .executeTakeFirst()
  return Number(result.numUpdatedRows)
}

interface PendingMail {
  userId: string
  email: string
  name: string
  /** The notifications it contains. */
  ids: string[]
  news: { title: string; body: string; createdAt: Date }[]
}

/** Notifications in one digest; the inbox shows the rest. */
const MAX_NEWS = 50

/**
 * Claims the notifications to email, instantly or as a daily digest by the user's choice, so that each is sent once. Only confirmed
 * addresses receive email; notifications read or dismissed meanwhile are skipped. No transaction waits for the mail server: if the
 * process dies before sending, the notifications only stay in the inbox.
 */
export async function takeMails(db: Db, choice: 'instant' | 'daily', people: number, now: Date): Promise<PendingMail[]> {
  const { rows } = await sql<PendingMail>`
    with chosen as (
      select u.id, u.email, u.name from app_user u
      where u.notification_mail = ${choice} and u.is_active and u.email_confirmed_at is not null
        and exists (select from notification n where n.user_id = u.id and n.mailed_at is null)
      order by u.id limit ${people}
    ), taken as (
      update notification n set mailed_at = ${now} from chosen c where n.user_id = c.id and n.mailed_at is null
      returning n.id, n.user_id, n.title, n.body, n.created_at, n.read_at, n.dismissed_at
    )
    select c.id as "userId", c.email, c.name, array_agg(t.id::text) as ids,
      (jsonb_agg(jsonb_build_object('title', t.title, 'body', t.body, 'createdAt', t.created_at) order by t.created_at desc)
        filter (where t.read_at is null and t.dismissed_at is null)) as news
    from chosen c join taken t on t.user_id = c.id group by c.id, c.email, c.name
  `.execute(db)
  return rows.map((mail) => ({
    ...mail,
    news: (mail.news ?? []).slice(0, MAX_NEWS).map((entry) => ({ ...entry, createdAt: new Date(entry.createdAt) })),
  }))
}

/** Claims one notification to email. Null if it was emailed or read, or its user has no confirmed address. */
export async function takeMail(db: Db, userId: string, dedupeKey: string, now: Date): Promise<PendingMail | null> {
  const { rows } = await sql<Omit<PendingMail, 'ids' | 'news'> & { id: string; title: string; body: string; createdAt: Date }>`
    update notification n set mailed_at = ${now} from app_user u
    where n.user_id = ${userId} and n.dedupe_key = ${dedupeKey} and n.mailed_at is null and n.read_at is null and n.dismissed_at is null
      and u.id = n.user_id and u.is_active and u.email_confirmed_at is not null
    returning n.id::text as id, n.title, n.body, n.created_at as "createdAt", u.id as "userId", u.email, u.name
  `.execute(db)
  return rows.map(({ id, title, body, createdAt, ...to }) => ({ ...to, ids: [id], news: [{ title, body, createdAt }] }))[0] ?? null
}

/** The email could not be sent; the next run retries. */
export async function markUnsent(db: Db, ids: readonly string[]): Promise<void> {
  await db.updateTable('notification').set({ mailed_at: null }).where('id', 'in', ids).execute()
}

/** When a user turns email on, notifications already in the inbox are not sent. */
export async function skipMail(tx: Tx, userId: string, now: Date): Promise<void> {
  await tx.updateTable('notification').set({ mailed_at: now }).where('user_id', '=', userId).where('mailed_at', 'is', null).execute()
}
