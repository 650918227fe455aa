/**
 * Download quotas of the organization that owns the data. The built-in store counts bytes as it sends them, for every response; on S3,
 * they are counted from its access logs, if it writes them, or else a file's size counts when its URL is signed. All decisions are made
 * on one row per organization, in the transaction that counts: concurrent calls cannot exceed a limit, and a crash loses nothing.
 */
import { sql } from 'kysely'
import { DAY_MS, MINUTE_MS } from '#core/time.ts'
import { newId } from '#core/ids.ts'
import type { Principal } from '#core/principal.ts'
import { problem, type Problem } from '#core/problem.ts'
import { deleteInBatches } from '#db/in-batches.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import { planOf, type Plan } from './plan.ts'
import * as usage from './usage.ts'

export const MAX_STARTS_PER_MINUTE = 120
/** Downloads pause when more than this fraction of a day's bytes leaves within the breaker's window. */
const BREAKER_FRACTION = 0.25
const BREAKER_WINDOW_MINUTES = 10
const BREAKER_PAUSE_MINUTES = 15

type DownloadKind = 'asset' | 'share' | 'clip'

interface Download {
  kind: DownloadKind
  itemId: string | null
  assetId: string | null
  bytes: number
}

interface Taker {
  organizationId: string
  principal: Pick<Principal, 'kind' | 'userId' | 'apiKeyId'>
  invocationId: string
  now: Date
}

const ACCOUNT = ['window_started_at as windowStartedAt', 'window_starts as windowStarts', 'paused_until as pausedUntil'] as const
type Account = Row<'egress_account', typeof ACCOUNT>

/**
 * Counts downloads that start together, all or none: 402 while the subscription is past due, 429 beyond a limit. A download
 * without a size only counts as a start.
 */
export async function start(
  tx: Tx,
  taker: Taker,
  downloads: readonly Download[],
  /** If true, `count` counts the bytes as they leave, and this call only checks that they fit. */
  { countsEgress }: { countsEgress: boolean },
): Promise<void> {
  if (downloads.length === 0) return
  await requirePaid(tx, taker.organizationId)
  const { organizationId, now } = taker
  const bytes = downloads.reduce((sum, download) => sum + download.bytes, 0)
  const plan = await planOf(tx, organizationId)
  const account = await lockAccount(tx, organizationId)
  if (bytes > 0 && account.pausedUntil && account.pausedUntil > now) throw paused(account.pausedUntil, now)
  const window = nextWindow(account, downloads.length, now)
  const { day, recent } = await taken(tx, organizationId, now)
  if (bytes > 0 && day + bytes > plan.egressBytes) throw await dayIsUsedUp(tx, taker, { day, bytes, plan })
  const counted = countsEgress ? 0 : bytes
  const trips = counted > 0 && recent + counted > plan.egressBytes * BREAKER_FRACTION
  await tx
    .updateTable('egress_account')
    .set({
      window_started_at: window.startedAt,
      window_starts: window.starts,
      ...(trips ? { paused_until: new Date(now.getTime() + BREAKER_PAUSE_MINUTES * MINUTE_MS) } : {}),
    })
    .where('org_id', '=', organizationId)
    .execute()
  await sql`
    insert into egress_minute as m (org_id, minute, bytes, starts) values (${organizationId}, date_trunc('minute', ${now}::timestamptz,
      'UTC'), ${counted}, ${downloads.length})
    on conflict (org_id, minute) do update set bytes = m.bytes + excluded.bytes, starts = m.starts + excluded.starts
  `.execute(tx)
  await tx
    .insertInto('egress_log')
    .values(downloads.map((download) => logRow(taker, download)))
    .execute()
  await usage.add(tx, [{ organizationId, day: usage.dayOf(now), meter: 'egress_bytes', amount: counted }])
}

/** 429 while the organization has reached its limit: for bytes about to be sent for a URL that was signed earlier. */
export async function requireOpen(db: Db, organizationId: string, now: Date): Promise<void> {
  const account = await db.selectFrom('egress_account').select(ACCOUNT).where('org_id', '=', organizationId).executeTakeFirst()
  if (!account) return
  if (account.pausedUntil && account.pausedUntil > now) throw paused(account.pausedUntil, now)
  const plan = await planOf(db, organizationId)
  const { day } = await taken(db, organizationId, now)
  if (day >= plan.egressBytes) throw await dayIsUsedUp(db, { organizationId, now }, { day, bytes: 1, plan })
}

/** Counts bytes that were sent. Never fails; too many bytes pause later downloads. */
export async function count(tx: Tx, organizationId: string, bytes: number, now: Date): Promise<void> {
  const account = await tx.selectFrom('egress_account').select('org_id').where('org_id', '=', organizationId).executeTakeFirst()
  if (!account) return // The organization was deleted while its last response was being sent.
  await lockAccount(tx, organizationId)
  await sql`
    insert into egress_minute as m (org_id, minute, bytes, starts)
    values (${organizationId}, date_trunc('minute', ${now}::timestamptz, 'UTC'), ${bytes}, 0)
    on conflict (org_id, minute) do update set bytes = m.bytes + excluded.bytes
  `.execute(tx)
  await usage.add(tx, [{ organizationId, day: usage.dayOf(now), meter: 'egress_bytes', amount: bytes }])
  const plan = await planOf(tx, organizationId)
  const { recent } = await taken(tx, organizationId, now)
  if (recent <= plan.egressBytes * BREAKER_FRACTION) return
  const until = new Date(now.getTime() + BREAKER_PAUSE_MINUTES * MINUTE_MS)
  await tx
    .updateTable('egress_account')
    .set({ paused_until: until })
    .where('org_id', '=', organizationId)
    .where((where) => where.or([where('paused_until', 'is', null), where('paused_until', '<=', now)]))
    .execute()
}

/** An organization with a past-due invoice cannot download until it is paid. */
export async function requirePaid(db: Db, organizationId: string): Promise<void> {
  const due = await db
    .selectFrom('invoice')
    .select('number')
    .where('org_id', '=', organizationId)
    .where('status', '=', 'past_due')
    .orderBy('due_at')
    .executeTakeFirst()
  if (due) throw problem('subscription-past-due', `Invoice ${due.number} is past due. Downloads work again as soon as it is paid.`)
}

async function lockAccount(tx: Tx, organizationId: string): Promise<Account> {
  return await tx
    .selectFrom('egress_account')
    .select(ACCOUNT)
    .where('org_id', '=', organizationId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
}

/** The window starts with its first download. */
function nextWindow({ windowStartedAt, windowStarts }: Account, starts: number, now: Date): { startedAt: Date; starts: number } {
  const isOpen = windowStartedAt !== null && now.getTime() - windowStartedAt.getTime() < MINUTE_MS
  const next = isOpen ? { startedAt: windowStartedAt, starts: windowStarts + starts } : { startedAt: now, starts }
  if (next.starts > MAX_STARTS_PER_MINUTE)
    throw limited(`At most ${MAX_STARTS_PER_MINUTE} downloads can start per minute`, next.startedAt.getTime() + MINUTE_MS, now)
  return next
}

/** Counted per minute: a minute that lies partly in the window counts in full. */
async function taken(tx: Db, organizationId: string, now: Date): Promise<{ day: number; recent: number }> {
  const { rows } = await sql<{ day: number; recent: number }>`
    select coalesce(sum(bytes), 0)::bigint as day,
      coalesce(sum(bytes) filter (where minute > ${since(now, BREAKER_WINDOW_MINUTES * MINUTE_MS)}), 0)::bigint as recent
    from egress_minute where org_id in ${usage.sharingQuotas(organizationId, now)} and minute > ${since(now, DAY_MS)}
  `.execute(tx)
  return rows[0]!
}

const since = (now: Date, spanMs: number): Date => new Date(now.getTime() - spanMs - MINUTE_MS)

async function dayIsUsedUp(
  tx: Db,
  { organizationId, now }: Pick<Taker, 'organizationId' | 'now'>,
  { day, bytes, plan }: { day: number; bytes: number; plan: Plan },
): Promise<Problem> {
  if (bytes > plan.egressBytes)
    return limited(
      `${bytes} bytes exceed the daily download limit of the plan '${plan.name}' (${plan.egressBytes}); change the plan`,
      now.getTime() + DAY_MS,
      now,
    )
  const { rows } = await sql<{ minute: Date }>`
    select minute from (
      select minute, sum(bytes) over (order by minute) as freed from egress_minute where org_id = ${organizationId}
        and minute > ${since(now, DAY_MS)}
    ) as m where freed >= ${day + bytes - plan.egressBytes} order by minute limit 1
  `.execute(tx)
  return limited(
    `${day} of the ${plan.egressBytes} bytes per 24 hours on the plan '${plan.name}' are used; ` + `this download needs ${bytes} more`,
    rows[0]!.minute.getTime() + MINUTE_MS + DAY_MS,
    now,
    { used: day, limit: plan.egressBytes },
  )
}

const paused = (until: Date, now: Date) =>
  limited(
    `More than ${BREAKER_FRACTION * 100}% of the daily download limit was used within ${BREAKER_WINDOW_MINUTES} minutes. ` +
      `Downloads are paused until ${until.toISOString()}`,
    until.getTime(),
    now,
  )

function limited(detail: string, untilMs: number, now: Date, members: Record<string, unknown> = {}): Problem {
  return problem('egress-limited', detail, {
    members,
    headers: { 'Retry-After': String(Math.max(1, Math.ceil((untilMs - now.getTime()) / 1000))) },
  })
}

function logRow({ organizationId, principal, invocationId, now }: Taker, { kind, itemId, assetId, bytes }: Download) {
  return {
    id: newId(),
    org_id: organizationId,
    kind,
    item_id: itemId,
    asset_id: assetId,
    bytes,
    principal_kind: principal.kind,
    user_id: principal.userId,
    api_key_id: principal.apiKeyId,
    invocation_id: invocationId,
    at: now,
  }
}

/** Deletes minutes that are in no window any more. */
export async function sweep(db: Db, now: Date): Promise<void> {
  await deleteInBatches(db, { table: 'egress_minute', key: ['org_id', 'minute'], where: sql<boolean>`minute <= ${since(now, DAY_MS)}` })
}
