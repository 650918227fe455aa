/**
 * Erases an organization: all of its rows and files, except what the law requires, and proves it by a search of every table and bucket.
 * Rows go in one transaction. If the removal of files is interrupted, the same command continues it.
 */
import pg from 'pg'
import type { Storage } from '#ports/storage.ts'
import { TILE_BUCKET, tilePrefix } from '#ports/tile-cache.ts'
import type { Installation } from '../backup/command.ts'
import { BackupError } from '../backup/layout.ts'
import { objectsOf } from '../backup/objects.ts'
import type { Progress } from '../backup/progress.ts'
import { quoted, SCHEMAS, withClient } from '../backup/tables.ts'
import { ownMigrations } from '../backup/take.ts'
import { findOrganization, forOrg, unfinishedOf, userColumns, type Organization } from './organization.ts'
import { ORG_TABLES } from './tables.ts'

/** Why records of money are kept, in Australia, where prices are charged. */
const LAWS = [
  'Corporations Act 2001 (Cth), section 286: financial records, 7 years after the transactions are completed',
  'Income Tax Assessment Act 1936 (Cth), section 262A: records of transactions, 5 years',
  'Taxation Administration Act 1953 (Cth), Schedule 1, section 382-5: records of GST, 5 years',
]
export const STANDARD_KEEP_YEARS = 7

interface Kept {
  readonly table: string
  readonly rows: number
}

export interface Proof {
  readonly organization: string
  readonly erased_at: string
  /** Rows that were deleted, by table. */
  readonly deleted: Readonly<Record<string, number>>
  readonly deleted_accounts: number
  /** Accounts of members that other organizations or their records need. */
  readonly remaining_accounts: number
  readonly deleted_files: number
  readonly kept: readonly Kept[]
  /** Documents of invoices. */
  readonly kept_files: readonly string[]
  readonly keep_until: string
  readonly laws: readonly string[]
  /** Tables in which identifiers of the organization, its data and its people were searched for after everything was deleted. */
  readonly searched: readonly string[]
  /** What was found and is not kept by law; empty if the erasure is complete. */
  readonly unexpected: readonly string[]
}

interface Erasing {
  readonly idOrSlug: string
  /** The slug again, or the name: an erasure cannot be undone. */
  readonly confirmation: string
  readonly keepYears: number
  readonly now: Date
}

export async function eraseOrganization(installation: Installation, erasing: Erasing, progress: Progress): Promise<Proof> {
  const { database, storage } = installation
  await ownMigrations(database.db)
  return await withClient(database.direct, async (client) => {
    const earlier = await earlierErasure(client, erasing.idOrSlug)
    const organization = earlier ?? (await findOrganization(client, erasing.idOrSlug))
    if (!earlier) await requireErasable(client, organization, erasing.confirmation)
    progress.step('Rows')
    await client.query('begin')
    try {
      await client.query('set local groundtrack.erasing = on')
      if (!earlier) await eraseRows(client, organization, erasing)
      else if (earlier.keepUntil <= erasing.now) await eraseKept(client, organization)
      await client.query('commit')
    } catch (error) {
      await client.query('rollback')
      throw error
    }
    progress.step('Files')
    const proof = await eraseFiles(client, storage, organization, (bytes) => progress.add(bytes))
    progress.end()
    return proof
  })
}

interface Earlier extends Organization {
  readonly keepUntil: Date
}

async function earlierErasure(client: pg.Client, id: string): Promise<Earlier | null> {
  const { rows } = await client.query<Earlier>(
    `select org_id as id, '' as name, '' as slug, keep_until as "keepUntil" from erasure where org_id::text = $1`,
    [id],
  )
  return rows[0] ?? null
}

async function requireErasable(client: pg.Client, organization: Organization, confirmation: string): Promise<void> {
  if (confirmation !== organization.slug && confirmation !== organization.name)
    throw new BackupError(`This erases '${organization.name}' for good. Repeat the command with --confirm ${organization.slug}`)
  const unfinished = await unfinishedOf(client, organization)
  if (unfinished.length > 0)
    throw new BackupError(`Work of the organization has not ended: ${unfinished.join(', ')}. Cancel it, or wait for its end.`)
}

/** What the organization's identifiers are, for rules that no foreign key describes and for the search afterwards. */
const IDENTIFIERS = `
  create temp table erased_id on commit drop as
  select {org}::text as id union select id::text from project where org_id = {org}
  union select id::text from upload_session where org_id = {org}
  union select f.id::text from upload_file f join upload_session u on u.id = f.upload_id where u.org_id = {org}
  union select id::text from processing_job where org_id = {org} union select id::text from imagery_order where org_id = {org}
  union select id::text from order_group where org_id = {org} union select id from item where org_id = {org}
  union select id::text from event_subscription where org_id = {org} union select id::text from saved_search where org_id = {org}
  union select id::text from map where org_id = {org} union select id::text from map_comment where org_id = {org}
  union select id::text from api_key where org_id = {org} union select id::text from invoice where org_id = {org}
  union select id::text from reservation where org_id = {org}`
/** People of this organization alone, without a role of the operator. */
const PEOPLE = `
  create temp table erased_user on commit drop as
  select u.id, u.email from app_user u
  where not u.is_system_admin and not u.is_clip_user
    and (exists (select from organization_member m where m.user_id = u.id and m.org_id = {org})
      or exists (select from project_member m join project p on p.id = m.project_id where m.user_id = u.id and p.org_id = {org}))
    and not exists (select from organization_member m where m.user_id = u.id and m.org_id <> {org})
    and not exists (select from project_member m join project p on p.id = m.project_id where m.user_id = u.id and p.org_id <> {org})`
/** Of people who are erased, and of those who were only invited. */
const ADDRESSES = `
  create temp table erased_address on commit drop as
  select email from erased_user union
  select i.email from invitation i where i.org_id = {org} and not exists (
    select from app_user u where u.email = i.email and u.id not in (select id from erased_user))`
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
/** Whether a row `t` contains an identifier or an address, in whatever column. */
const MENTIONS = `(
  exists (
    select from regexp_matches(t::text, '${UUID}', 'g') as found (id)
    where found.id[1] in (select id from erased_id) or found.id[1] in (select id::text from erased_user))
  or exists (select from erased_address a where position(a.email in t::text) > 0))`

async function eraseRows(client: pg.Client, organization: Organization, { keepYears, now }: Erasing): Promise<void> {
  const run = async (text: string) => (await client.query(forOrg(text, organization))).rowCount ?? 0
  await run(IDENTIFIERS)
  await run(PEOPLE)
  await run(ADDRESSES)
  await client.query('create index on erased_id (id); analyze erased_id; analyze erased_user')
  const { rows: buckets } = await client.query<{ bucket: string }>(
    forOrg('select bucket_name as bucket from project where org_id = {org} and bucket_name is not null', organization),
  )
  const keepUntil = await keepUntilOf(client, organization, keepYears, now)
  const deleted: Record<string, number> = {}
  // Rows that the queue, the idempotency of calls and the sweep keep for a while.
  deleted['queue.job'] = await run(`delete from queue.job t where ${MENTIONS}`)
  deleted['orphan_object'] = await run('delete from orphan_object where bucket in (select bucket_name from project where org_id = {org})')
  deleted['idempotency_claim'] = await run(`
    delete from idempotency_claim where owner_id::text in (select id from erased_id) or owner_id in (select id from erased_user)`)
  deleted['rate_window'] = await run(`delete from rate_window t where ${MENTIONS}`)
  for (const table of ['email_change', 'passkey', 'recovery_code', 'sign_in_challenge', 'totp_factor'])
    deleted[table] = await run(`delete from ${table} where user_id in (select id from erased_user)`)
  deleted['mail_token'] = await run('delete from mail_token where user_id in (select id from erased_user)')
  deleted['refresh_token'] = await run(
    'delete from refresh_token where session_id in (select id from user_session where user_id in (select id from erased_user))',
  )
  deleted['user_session'] = await run('delete from user_session where user_id in (select id from erased_user)')
  deleted['audit'] = await run('delete from audit where user_id in (select id from erased_user)')
  for (const column of ['user_id', 'api_key_id']) await run(`update reservation set ${column} = null where org_id = {org}`)
  for (const table of ['agreed_spend', 'payment_attempt']) await run(`update ${table} set user_id = null where org_id = {org}`)
  await run('update app_user set last_org_id = null where last_org_id = {org}')
  for (const { name, where, isKept } of ORG_TABLES.toReversed())
    if (!isKept) deleted[name] = (deleted[name] ?? 0) + (await run(`delete from ${name} where ${where}`))
  for (const table of await sandboxTables(client)) deleted[table] = await run(`delete from ${quoted(table)} t where ${MENTIONS}`)
  // The row that kept records refer to says nothing any more.
  await run(`
    update organization set name = 'Erased organization', slug = 'erased-' || id, description = null, website = null, industry = null,
      size = null, country = null, abn = null, tax_number = null, billing_email = null, billing_admin_id = null, billing_address = null,
      founded_by = null, deleted_at = coalesce(deleted_at, now()) where id = {org}`)
  const accounts = await eraseAccounts(client)
  const proof: Proof = {
    organization: organization.id,
    erased_at: now.toISOString(),
    deleted: Object.fromEntries(Object.entries(deleted).filter(([, rows]) => rows > 0)),
    deleted_accounts: accounts.deleted,
    remaining_accounts: accounts.remaining,
    deleted_files: 0,
    kept: await keptOf(client, organization),
    kept_files: [],
    keep_until: keepUntil.toISOString(),
    laws: LAWS,
    ...(await search(client)),
  }
  await client.query('insert into erasure (org_id, erased_at, keep_until, buckets, proof) values ($1, $2, $3, $4, $5)', [
    organization.id,
    now,
    keepUntil,
    buckets.map(({ bucket }) => bucket),
    JSON.stringify(proof),
  ])
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

/** Accounts that nothing refers to any more are deleted; others belong to people whom other organizations know. */
async function eraseAccounts(client: pg.Client): Promise<{ deleted: number; remaining: number }> {
  const references = (await userColumns(client)).map(
    ({ table, column }) => `and not exists (select from ${table} r where r.${pg.escapeIdentifier(column)} = u.id)`,
  )
  const { rowCount } = await client.query(`delete from app_user u where u.id in (select id from erased_user) ${references.join(' ')}`)
  const { rows } = await client.query<{ remaining: number }>(`
    with hidden as (
      update app_user u set email = 'erased-' || u.id || '@erased.invalid', name = 'Erased', password_hash = '!', is_active = false,
        email_confirmed_at = null from erased_user e where e.id = u.id returning 1)
    select count(*)::int as remaining from hidden`)
  // Records of other organizations mention them with good reason.
  await client.query(`
    with known as (delete from erased_user e where exists (select from app_user u where u.id = e.id) returning e.email)
    delete from erased_address a using known where known.email = a.email`)
  return { deleted: rowCount ?? 0, remaining: rows[0]!.remaining }
}

async function sandboxTables(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select schemaname || '.' || tablename as name from pg_tables where schemaname like 'sandbox%' order by 1`,
  )
  return rows.map(({ name }) => name)
}

async function keptOf(client: pg.Client, organization: Organization): Promise<Kept[]> {
  const kept: Kept[] = []
  for (const { name, where, isKept } of ORG_TABLES) {
    if (!isKept) continue
    const { rows } = await client.query<{ rows: number }>(forOrg(`select count(*)::int as rows from ${name} where ${where}`, organization))
    if (rows[0]!.rows > 0) kept.push({ table: name, rows: rows[0]!.rows })
  }
  return kept
}

/** Of every row of every table, whatever its columns mean. */
async function search(client: pg.Client): Promise<Pick<Proof, 'searched' | 'unexpected'>> {
  const { rows: tables } = await client.query<{ name: string }>(
    `select n.nspname || '.' || c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = any ($1) and c.relkind in ('r', 'p') and not c.relispartition order by 1`,
    [SCHEMAS],
  )
  const kept = new Set(ORG_TABLES.filter(({ isKept }) => isKept).map(({ name }) => `public.${name}`))
  const unexpected: string[] = []
  for (const { name } of tables) {
    if (kept.has(name)) continue
    const { rows } = await client.query<{ found: number }>(`select count(*)::int as found from ${quoted(name)} t where ${MENTIONS}`)
    if (rows[0]!.found > 0) unexpected.push(`${name}: ${rows[0]!.found} rows`)
  }
  return { searched: tables.map(({ name }) => name), unexpected }
}

/** When the time is over, nothing is left but the proof. */
async function eraseKept(client: pg.Client, organization: Organization): Promise<void> {
  for (const { name, where, isKept } of ORG_TABLES.toReversed())
    if (isKept) await client.query(forOrg(`delete from ${name} where ${where}`, organization))
  await client.query(`update erasure set proof = proof || '{"kept": [], "kept_files": []}' where org_id = $1`, [organization.id])
}

const INVOICES = 'invoices'
const REPORTS = 'reports'

/** Buckets of projects, and files in those that organizations share; then both are searched again. */
async function eraseFiles(client: pg.Client, storage: Storage, { id }: Organization, onFile: (bytes: number) => void): Promise<Proof> {
  const { rows } = await client.query<{ buckets: string[]; proof: Proof }>('select buckets, proof from erasure where org_id = $1', [id])
  const { buckets, proof } = rows[0]!
  let deleted = 0
  const isOwn = (key: string): boolean => key.split('/').includes(id)
  for (const bucket of buckets) {
    for await (const _ of objectsOf(storage, [bucket])) {
      deleted++
      onFile(0)
    }
    await storage.deleteBucket(bucket)
  }
  const shared = proof.kept.length > 0 ? [REPORTS] : [REPORTS, INVOICES]
  for await (const at of objectsOf(storage, shared)) {
    if (!isOwn(at.key)) continue
    await storage.remove(at)
    deleted++
    onFile(0)
  }
  for await (const at of objectsOf(storage, [TILE_BUCKET], tilePrefix(id))) {
    await storage.remove(at)
    deleted++
    onFile(0)
  }
  const keptFiles: string[] = []
  const left: string[] = []
  for await (const { bucket, key } of objectsOf(storage, [TILE_BUCKET], tilePrefix(id))) left.push(`${bucket}/${key}`)
  for await (const { bucket, key } of objectsOf(storage, [...buckets, REPORTS, INVOICES])) {
    if (buckets.includes(bucket)) left.push(`${bucket}/${key}`)
    else if (isOwn(key)) (bucket === INVOICES && proof.kept.length > 0 ? keptFiles : left).push(`${bucket}/${key}`)
  }
  const complete: Proof = {
    ...proof,
    deleted_files: proof.deleted_files + deleted,
    kept_files: keptFiles,
    unexpected: [...proof.unexpected, ...left],
  }
  await client.query('update erasure set buckets = $2, proof = $3 where org_id = $1', [
    id,
    left.length > 0 ? buckets : [],
    JSON.stringify(complete),
  ])
  return complete
}
