/**
 * Erases an organization: all of its rows and files, except what the law requires, and proves it by a search of every table and bucket.
 * All access ends in the first transaction. Rows and files follow in batches, however many there are; if the command is interrupted,
 * the same command continues.
 */
import pg from 'pg'
import type { Installation } from '../backup/command.ts'
import { BackupError } from '../backup/layout.ts'
import type { Progress } from '../backup/progress.ts'
import { withClient } from '../backup/tables.ts'
import { ownMigrations } from '../backup/take.ts'
import { deleting, inBatches, inTransaction } from './batches.ts'
import { eraseFiles } from './erase-files.ts'
import { addDeleted, beginErasure, ERASED_USERS, forgetIdentifiers, markOf, requireAlone } from './erasing.ts'
import { analyzeIdentifiers, MENTIONS, sandboxTables, searchEverything, type Found } from './mentions.ts'
import { findOrganization, forOrg, userColumns, type Organization } from './organization.ts'
import type { Kept, Proof } from './proof.ts'
import { ORG_TABLES } from './tables.ts'

/** Why records of money are kept, in Australia, where prices are charged. */
const LAWS = [
  'Corporations Act 2001 (Cth), section 286: financial records, 7 years after the transactions are completed',
  'Income Tax Assessment Act 1936 (Cth), section 262A: records of transactions, 5 years',
  'Taxation Administration Act 1953 (Cth), Schedule 1, section 382-5: records of GST, 5 years',
]
export const STANDARD_KEEP_YEARS = 7

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
    await requireAlone(client, organization)
    if (!earlier) await eraseRows(client, organization, erasing, progress)
    else if (earlier.keepUntil <= erasing.now) await eraseKept(client, organization)
    await forgetIdentifiers(client, organization)
    progress.step('Files')
    const proof = await eraseFiles(client, storage, organization, (files) => progress.add(0, files))
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

async function eraseRows(client: pg.Client, organization: Organization, erasing: Erasing, progress: Progress): Promise<void> {
  const { confirmation, keepYears, now } = erasing
  if (!(await markOf(client, organization))) {
    if (confirmation !== organization.slug && confirmation !== organization.name)
      throw new BackupError(`This erases '${organization.name}' for good. Repeat the command with --confirm ${organization.slug}`)
    await beginErasure(client, organization, keepYears, now)
  }
  progress.step('Rows')
  const onRows = (rows: number) => progress.add(0, rows)
  await deleteOwn(client, organization, onRows)
  await deleteOfPeople(client, organization, onRows)
  await analyzeIdentifiers(client)
  await deleteMentions(client, organization, onRows)
  await eraseAccounts(client, organization)
  progress.step('Search')
  const found = await searchEverything(client, organization, () => progress.add(0))
  await finish(client, organization, found, now)
}

/** Deletes rows of one table, and counts them. */
async function deleteFrom(
  client: pg.Client,
  organization: Organization,
  { table, where, statement = deleting }: { table: string; where: string; statement?: typeof deleting },
  onRows: (rows: number) => void,
): Promise<number> {
  return await inBatches(client, table, {
    where: forOrg(where, organization),
    statement,
    async onBatch(count) {
      await addDeleted(client, organization, table, count)
      onRows(count)
    },
  })
}

/** Calls that had begun before access ended can still add rows: tables are gone through until nothing is found. */
const MAX_ROUNDS = 10
const REFERRED_TO = '23503'

async function deleteOwn(client: pg.Client, organization: Organization, onRows: (rows: number) => void): Promise<void> {
  await rememberKept(client, organization)
  // Kept records do not say who caused them.
  for (const [table, columns] of [
    ['reservation', ['user_id', 'api_key_id']],
    ['agreed_spend', ['user_id']],
    ['payment_attempt', ['user_id']],
  ] as const)
    await inBatches(client, table, {
      where: forOrg(`t.org_id = {org} and (${columns.map((column) => `t.${column} is not null`).join(' or ')})`, organization),
      statement: (leaf, rows) => {
        const changes = columns.map((column) => `${column} = null`).join(', ')
        return `with changed as (update ${leaf} t set ${changes} where ${rows} returning 1) select count(*)::int as count from changed`
      },
    })
  for (let round = 1; ; round++) {
    let isDone = true
    for (const { name, where, isKept, isSearchedFor } of ORG_TABLES.toReversed()) {
      if (isKept) continue
      try {
        const statement = isSearchedFor ? (leaf: string, rows: string) => deletingRemembered(leaf, rows, organization) : deleting
        if ((await deleteFrom(client, organization, { table: name, where, statement }, onRows)) > 0) isDone = false
      } catch (error) {
        // A late row refers to one of these, and goes first in the next round.
        if ((error as { code?: string }).code !== REFERRED_TO || round === MAX_ROUNDS) throw error
        isDone = false
      }
    }
    if (isDone || round === MAX_ROUNDS) return // The search reports what is left.
  }
}

/** IDs of deleted rows are searched for in the end, also by a command that continues. */
const deletingRemembered = (leaf: string, rows: string, organization: Organization): string =>
  forOrg(
    `with gone as (delete from ${leaf} t where ${rows} returning t.id::text as id),
       remembered as (insert into erasing_id (org_id, kind, id) select {org}, 'id', id from gone on conflict do nothing)
     select count(*)::int as count from gone`,
    organization,
  )

async function rememberKept(client: pg.Client, organization: Organization): Promise<void> {
  for (const { name, where, isKept, isSearchedFor } of ORG_TABLES)
    if (isKept && isSearchedFor)
      await client.query(
        forOrg(
          `insert into erasing_id (org_id, kind, id) select {org}, 'id', id::text from ${name} where ${where} on conflict do nothing`,
          organization,
        ),
      )
}

async function deleteOfPeople(client: pg.Client, organization: Organization, onRows: (rows: number) => void): Promise<void> {
  for (const table of ['email_change', 'passkey', 'recovery_code', 'sign_in_challenge', 'totp_factor', 'mail_token'])
    await deleteFrom(client, organization, { table, where: `t.user_id in (${ERASED_USERS})` }, onRows)
  const sessions = `select s.id from user_session s where s.user_id in (${ERASED_USERS})`
  await deleteFrom(client, organization, { table: 'refresh_token', where: `t.session_id in (${sessions})` }, onRows)
  for (const table of ['user_session', 'audit'])
    await deleteFrom(client, organization, { table, where: `t.user_id in (${ERASED_USERS})` }, onRows)
}

/** Rows that the queue, the idempotency of calls, limits, the sweep and simulated services keep for a while. */
async function deleteMentions(client: pg.Client, organization: Organization, onRows: (rows: number) => void): Promise<void> {
  const owners = "select id from erasing_id where org_id = {org} and kind in ('id', 'user')"
  const places: readonly (readonly [table: string, where: string])[] = [
    ['queue.job', MENTIONS],
    ['rate_window', MENTIONS],
    ['orphan_object', 't.bucket in (select unnest(buckets) from erasing where org_id = {org})'],
    ['idempotency_claim', `t.owner_id::text in (${owners})`],
    ...(await sandboxTables(client)).map((table) => [table, MENTIONS] as const),
  ]
  for (const [table, where] of places) await deleteFrom(client, organization, { table, where }, onRows)
}

/** Accounts that nothing refers to any more are deleted; others belong to people whom other organizations know. */
async function eraseAccounts(client: pg.Client, organization: Organization): Promise<void> {
  const references = (await userColumns(client)).map(
    ({ table, column }) => `and not exists (select from ${table} r where r.${pg.escapeIdentifier(column)} = u.id)`,
  )
  const run = async (text: string) => (await client.query(forOrg(text, organization))).rowCount ?? 0
  await inTransaction(client, async () => {
    await run('update organization set billing_admin_id = null, founded_by = null where id = {org}')
    const deleted = await run(`delete from app_user u where u.id in (${ERASED_USERS}) ${references.join(' ')}`)
    // Records of other organizations mention those who remain with good reason.
    await run(`
      delete from erasing_id a using app_user u where a.org_id = {org} and a.kind = 'address' and a.id = u.email
        and u.id in (${ERASED_USERS})`)
    const remaining = await run(`
      update app_user u set email = 'erased-' || u.id || '@erased.invalid', name = 'Erased', password_hash = '!', is_active = false,
        email_confirmed_at = null where u.id in (${ERASED_USERS})`)
    await run(`
      delete from erasing_id e where e.org_id = {org} and e.kind = 'user' and exists (select from app_user u where u.id = e.id::uuid)`)
    await client.query(
      'update erasing set deleted_accounts = deleted_accounts + $2, remaining_accounts = remaining_accounts + $3 where org_id = $1',
      [organization.id, deleted, remaining],
    )
  })
}

/** The proof replaces the mark. */
async function finish(client: pg.Client, organization: Organization, found: Found, now: Date): Promise<void> {
  await inTransaction(client, async () => {
    const mark = (await markOf(client, organization))!
    const proof: Proof = {
      organization: organization.id,
      erased_at: now.toISOString(),
      deleted: mark.deleted,
      deleted_accounts: mark.deletedAccounts,
      remaining_accounts: mark.remainingAccounts,
      deleted_files: 0,
      kept: await keptOf(client, organization),
      kept_files: [],
      keep_until: mark.keepUntil.toISOString(),
      laws: LAWS,
      ...found,
    }
    // The row that kept records refer to says nothing any more.
    await client.query(
      `update organization set name = 'Erased organization', slug = 'erased-' || id, description = null, website = null, industry = null,
         size = null, country = null, abn = null, tax_number = null, billing_email = null, billing_admin_id = null, billing_address = null,
         founded_by = null, default_project_id = null, deleted_at = coalesce(deleted_at, now()) where id = $1`,
      [organization.id],
    )
    await client.query('insert into erasure (org_id, erased_at, keep_until, buckets, proof) values ($1, $2, $3, $4, $5)', [
      organization.id,
      now,
      mark.keepUntil,
      mark.buckets,
      JSON.stringify(proof),
    ])
    await client.query('delete from erasing where org_id = $1', [organization.id])
  })
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

/** When the time is over, nothing is left but the proof. */
async function eraseKept(client: pg.Client, organization: Organization): Promise<void> {
  for (const { name, where, isKept } of ORG_TABLES.toReversed())
    if (isKept) await inBatches(client, name, { where: forOrg(where, organization), statement: deleting })
  await client.query(`update erasure set proof = proof || '{"kept": [], "kept_files": []}' where org_id = $1`, [organization.id])
}
