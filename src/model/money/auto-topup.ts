/** Automatic top-up: below a threshold of credits, one attempt at a time, at most one in ten minutes, never above the day's cap. */
import { sql } from 'kysely'
import { Problem } from '#core/problem.ts'
import type { Db, Tx } from '#db/tables.ts'
import { lockWallet, type Wallet } from './billing-account.ts'
import { pay } from './card-payment.ts'
import * as attempts from './payment-attempt.ts'
import type { Attempt, NewAttempt } from './payment-attempt.ts'
import type { PaymentContext } from './processor.ts'
import { fail, purchaseOf, settle } from './topup.ts'

const PAUSE_MS = 10 * 60_000
const DUE_LIMIT = 500

type AutoTopup = Pick<Wallet, 'autoEnabled' | 'autoThresholdCredits' | 'autoAmountCredits' | 'autoDailyCapCents'>

export async function set(tx: Tx, organizationId: string, wanted: AutoTopup): Promise<void> {
  const settings = {
    auto_enabled: wanted.autoEnabled,
    auto_threshold: wanted.autoThresholdCredits,
    auto_amount: wanted.autoAmountCredits,
    auto_daily_cap_cents: wanted.autoDailyCapCents,
  }
  await tx
    .insertInto('wallet')
    .values({ org_id: organizationId, ...settings })
    .onConflict((conflict) => conflict.column('org_id').doUpdateSet(settings))
    .execute()
}

/** What was charged today, or may still be; days are of UTC. */
export async function chargedToday(db: Db, organizationId: string, now: Date): Promise<number> {
  const startOfDay = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()))
  return await attempts.automaticCentsSince(db, organizationId, startOfDay)
}

/** Organizations whose balance is below their threshold and whose last attempt is long enough ago. */
export async function due(db: Db, now: Date): Promise<string[]> {
  const rows = await db
    .selectFrom('wallet')
    .select('org_id as organizationId')
    .where('auto_enabled', '=', true)
    .where(sql<boolean>`available < auto_threshold`)
    .where((or) => or.or([or('auto_attempted_at', 'is', null), or('auto_attempted_at', '<=', new Date(now.getTime() - PAUSE_MS))]))
    .limit(DUE_LIMIT)
    .execute()
  return rows.map(({ organizationId }) => organizationId)
}

interface Begun {
  wanted: NewAttempt
  attempt: Attempt
}

/**
 * Begins the one attempt that may be made now: under the lock of the wallet's row it looks at the balance, the pause and the
 * day's sum, and writes the attempt down before anybody else can look. Null: no top-up is due.
 */
async function begin({ db, clock, invocationId }: PaymentContext, organizationId: string): Promise<Begun | null> {
  const now = clock.now()
  return await db.transaction().execute(async (tx) => {
    const wallet = await lockWallet(tx, organizationId)
    if (!wallet.autoEnabled || wallet.available >= wallet.autoThresholdCredits!) return null
    if (wallet.autoAttemptedAt && now.getTime() - wallet.autoAttemptedAt.getTime() < PAUSE_MS) return null
    const cents = wallet.autoAmountCredits!
    const charged = await chargedToday(tx, organizationId, now)
    if (wallet.autoDailyCapCents !== null && charged + cents > wallet.autoDailyCapCents) return null
    await tx.updateTable('wallet').set({ auto_attempted_at: now }).where('org_id', '=', organizationId).execute()
    const wanted: NewAttempt = {
      organizationId,
      kind: 'auto_topup',
      requestKey: `auto ${now.toISOString()}`,
      ...purchaseOf(cents),
      userId: null,
      invocationId,
    }
    return { wanted, attempt: await attempts.open(tx, wanted, now) }
  })
}

/** True when a card was asked. A refusal is told by its event; the next try comes after the pause. */
export async function run(context: PaymentContext, organizationId: string): Promise<boolean> {
  const begun = await begin(context, organizationId)
  if (!begun) return false
  try {
    const { attempt, intent } = await pay(context, { ...begun.wanted, offSession: true })
    await context.commit(organizationId, 'billing.auto_topup', (change) => settle(change, attempt.id, intent))
  } catch (error) {
    if (!(error instanceof Problem) || error.slug === 'payment-processor-outage') throw error // The sweep finds out what became of it.
    await context.commit(organizationId, 'billing.auto_topup', (change) => fail(change, begun.attempt, error.slug))
  }
  return true
}
