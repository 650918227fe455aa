/** The mark that an erasure has begun, with what it has deleted so far. Once it is there, nobody has access to the organization. */
import type pg from 'pg'
import { BackupError } from '../backup/layout.ts'
import { deleting, inBatches, inTransaction } from './batches.ts'
import { forOrg, unfinishedOf, type Organization } from './organization.ts'
import { ORG_TABLES } from './tables.ts'

interface Mark {
  readonly keepUntil: Date
  readonly buckets: readonly string[]
  readonly deleted: Readonly<Record<string, number>>
  readonly deletedAccounts: number
  readonly remainingAccounts: number
}

export async function markOf(client: pg.Client, { id }: Organization): Promise<Mark | null> {
  const { rows } = await client.query<Mark>(
    `select keep_until as "keepUntil", buckets, deleted, deleted_accounts as "deletedAccounts",
       remaining_accounts as "remainingAccounts" from erasing where org_id = $1`,
    [id],
  )
  return rows[0] ?? null
}

/** Two commands would count the same rows. The lock ends with the connection. */
export async function requireAlone(client: pg.Client, { id }: Organization): Promise<void> {
  const { rows } = await client.query<{ isAlone: boolean }>(
    `select pg_try_advisory_lock(hashtextextended('erase ' || $1, 0)) as "isAlone"`,
    [id],
  )
  if (!rows[0]!.isAlone) throw new BackupError('Another command is erasing the organization at this moment')
}

/** People of this organization alone, without a role of the operator. */
const PEOPLE = `
  insert into erasing_id (org_id, kind, id) select {org}, 'user', u.id::text from app_user u
  where not u.is_system_admin and not u.is_clip_user
    and (exists (select from organization_member m where m.user_id = u.id and m.org_id = {org})
      or exists (select from project_member m join project p on p.id = m.project_id where m.user_id = u.id and p.org_id = {org}))
    and not exists (select from organization_member m where m.user_id = u.id and m.org_id <> {org})
    and not exists (select from project_member m join project p on p.id = m.project_id where m.user_id = u.id and p.org_id <> {org})`
export const ERASED_USERS = "select id::uuid from erasing_id where org_id = {org} and kind = 'user'"
/** Of people who are erased, and of those who were only invited. */
const ADDRESSES = `
  insert into erasing_id (org_id, kind, id) select {org}, 'address', u.email from app_user u where u.id in (${ERASED_USERS})
  union select {org}, 'address', i.email from invitation i where i.org_id = {org} and not exists (
    select from app_user u where u.email = i.email and u.id not in (${ERASED_USERS}))`

/** Members, sessions, keys, links, invitations and projects, in the same transaction as the mark; triggers tell all processes. */
const ENDS_ACCESS = [
  'update app_user set last_org_id = null where last_org_id = {org}',
  `update app_user set is_active = false where id in (${ERASED_USERS})`,
  `update user_session set ended_at = now() where ended_at is null and (org_id = {org} or user_id in (${ERASED_USERS}))`,
  // A key that another one created can be deleted in any order.
  `update api_key set is_active = false, revoked_at = coalesce(revoked_at, now()), created_by_key = null where org_id = {org}`,
  // Signed URLs need no member.
  'update project set deleted_at = coalesce(deleted_at, now()) where org_id = {org}',
]

/** Ends all access and marks the organization, or does nothing if its work has not ended. */
export async function beginErasure(client: pg.Client, organization: Organization, keepYears: number, now: Date): Promise<void> {
  const run = async (text: string) => (await client.query(forOrg(text, organization))).rowCount ?? 0
  await inTransaction(client, async () => {
    // Waits for transactions that are adding rows to the organization.
    await run('select from organization where id = {org} for update')
    const unfinished = await unfinishedOf(client, organization)
    if (unfinished.length > 0)
      throw new BackupError(`Work of the organization has not ended: ${unfinished.join(', ')}. Cancel it, or wait for its end.`)
    await client.query(
      forOrg(
        `insert into erasing (org_id, begun_at, keep_until, buckets) select {org}, $1::timestamptz, $2::timestamptz,
           coalesce(array_agg(bucket_name), '{}')
         from project where org_id = {org} and bucket_name is not null`,
        organization,
      ),
      [now, await keepUntilOf(client, organization, keepYears, now)],
    )
    await run(PEOPLE)
    await run(ADDRESSES)
    for (const text of ENDS_ACCESS) await run(text)
    for (const { name, where, givesAccess } of ORG_TABLES.toReversed())
      if (givesAccess) await addDeleted(client, organization, name, await run(`delete from ${name} where ${where}`))
  })
}

/** Behind the last transaction. */
async function keepUntilOf(client: pg.Client, organization: Organization, years: number, now: Date): Promise<Date> {
  const { rows } = await client.query<{ last: Date | null }>(
    forOrg(
      `select greatest((select max(created_at) from ledger_transfer where org_id = {org}), (select max(created_at) from accrual_entry
         where org_id = {org}), (select max(coalesce(paid_at, issued_at)) from invoice where org_id = {org}),
         (select max(updated_at) from payment_attempt where org_id = {org})) as last`,
      organization,
    ),
  )
  const last = rows[0]!.last
  if (!last) return now
  const until = new Date(last)
  until.setUTCFullYear(until.getUTCFullYear() + years)
  return until
}

/** In the transaction that deleted them, so that nothing is counted twice or not at all. */
export async function addDeleted(client: pg.Client, { id }: Organization, table: string, count: number): Promise<void> {
  if (count > 0)
    await client.query(
      `update erasing set deleted = deleted || jsonb_build_object($2::text, coalesce((deleted ->> $2)::bigint, 0) + $3::bigint)
       where org_id = $1`,
      [id, table, count],
    )
}

/** What was searched for is forgotten when the proof is stored. */
export async function forgetIdentifiers(client: pg.Client, organization: Organization): Promise<void> {
  await inBatches(client, 'erasing_id', { where: forOrg('t.org_id = {org}', organization), statement: deleting })
}
