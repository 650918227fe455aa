/** Automatic top-up below a credit threshold: one attempt at a time, at most one in ten minutes, and never above the daily cap. */
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

export async function set(tx: Tx, organizationId: string, request: AutoTopup): Promise<void> {
  const settings = {
    auto_enabled: request.autoEnabled,
    auto_threshold: request.autoThresholdCredits,
    auto_amount: request.autoAmountCredits,
    auto_daily_cap_cents: request.autoDailyCapCents,
  }
  await tx
    .insertInto('wallet')
    .values({ org_id: organizationId, ...settings })
    .onConflict((conflict) => conflict.column('org_id').doUpdateSet(settings))
    .execute()
}

/** Charged today or possibly still to be charged; days are UTC. */
export async function chargedToday(db: Db, organizationId: string, now: Date): Promise<number> {
  const startOfDay = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()))
  return await attempts.automaticCentsSince(db, organizationId, startOfDay)
}

/** Organizations below their threshold whose last attempt is long enough ago. */
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

interface StartedTopup {
  request: NewAttempt
  attempt: Attempt
}

/**
 * Starts an attempt if one is due: with the wallet's row locked, checks the balance, the pause and the daily total, and records the
 * attempt. Returns null if no top-up is due.
 */
async function begin({ db, clock, invocationId }: PaymentContext, organizationId: string): Promise<StartedTopup | null> {
  const now = clock.now()
  return await db.transaction().execute(async (tx) => {
    const wallet = await lockWallet(tx, organizationId)
    if (!wallet.autoEnabled || wallet.available >= wallet.autoThresholdCredits!) return null
    if (wallet.autoAttemptedAt && now.getTime() - wallet.autoAttemptedAt.getTime() < PAUSE_MS) return null
    const cents = wallet.autoAmountCredits!
    const charged = await chargedToday(tx, organizationId, now)
    if (wallet.autoDailyCapCents !== null && charged + cents > wallet.autoDailyCapCents) return null
    await tx.updateTable('wallet').set({ auto_attempted_at: now }).where('org_id', '=', organizationId).execute()
    const request: NewAttempt = {
      organizationId,
      kind: 'auto_topup',
      requestKey: `auto ${now.toISOString()}`,
      ...purchaseOf(cents),
      userId: null,
      invocationId,
    }
    return { request, attempt: await attempts.open(tx, request, now) }
  })
}

/** Returns true if a card was charged or declined. A failure is reported by its event; the next attempt follows after the pause. */
export async function run(context: PaymentContext, organizationId: string): Promise<boolean> {
  const started = await begin(context, organizationId)
  if (!started) return false
  try {
    const { attempt, intent } = await pay(context, { ...started.request, offSession: true })
    await context.commit(organizationId, 'billing.auto_topup', (change) => settle(change, attempt.id, intent))
  } catch (error) {
    if (!(error instanceof Problem) || error.slug === 'payment-processor-outage') throw error // The sweep resolves it.
    await context.commit(organizationId, 'billing.auto_topup', (change) => fail(change, started.attempt, error.slug))
  }
  return true
}
