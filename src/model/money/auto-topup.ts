/** Automatic top-up: when the balance is below its threshold, one attempt at a time, at most one in ten minutes, never above the day's cap. */
import { sql } from 'kysely'
import { bonusCredits } from '#core/money.ts'
import { Problem } from '#core/problem.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { AutoTopup } from './billing-account.ts'
import type { PaymentContext } from './processor.ts'
import { pay } from './card-payment.ts'
import * as attempts from './payment-attempt.ts'
import * as outcome from './payment-outcome.ts'

const PAUSE_MS = 10 * 60_000
const DUE_LIMIT = 500

export async function set(
  tx: Tx,
  organizationId: string,
  { enabled, thresholdCredits, amountCredits, dailyCapCents }: AutoTopup,
): Promise<void> {
  const settings = {
    auto_enabled: enabled,
    auto_threshold: thresholdCredits,
    auto_amount: amountCredits,
    auto_daily_cap_cents: dailyCapCents,
  }
  await tx
    .insertInto('wallet')
    .values({ org_id: organizationId, ...settings })
    .onConflict((conflict) => conflict.column('org_id').doUpdateSet(settings))
    .execute()
}

export function startOfDay(now: Date): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()))
}

/** Organizations whose balance is below their threshold and whose last attempt is long enough ago. */
export async function due(db: Db, now: Date): Promise<string[]> {
  const rows = await db
    .selectFrom('wallet')
    .select('org_id')
    .where('auto_enabled', '=', true)
    .where(sql<boolean>`available < auto_threshold`)
    .where((or) => or.or([or('auto_attempted_at', 'is', null), or('auto_attempted_at', '<=', new Date(now.getTime() - PAUSE_MS))]))
    .limit(DUE_LIMIT)
    .execute()
  return rows.map(({ org_id }) => org_id)
}

interface Turn {
  amountCredits: number
  key: string
}

/**
 * Takes the one turn that there is: under the lock of the wallet's row it looks at the balance, the pause and the day's sum,
 * and writes the attempt down before anybody else can look. Null: no top-up is due now.
 */
async function takeTurn(context: PaymentContext, organizationId: string): Promise<Turn | null> {
  const now = context.clock.now()
  return await context.db.transaction().execute(async (tx) => {
    const wallet = await tx.selectFrom('wallet').selectAll().where('org_id', '=', organizationId).forUpdate().executeTakeFirst()
    if (!wallet?.auto_enabled || wallet.available >= wallet.auto_threshold!) return null
    if (wallet.auto_attempted_at && now.getTime() - wallet.auto_attempted_at.getTime() < PAUSE_MS) return null
    const charged = await attempts.automaticCentsSince(tx, organizationId, startOfDay(now))
    const amount = wallet.auto_amount!
    if (wallet.auto_daily_cap_cents !== null && charged + amount > wallet.auto_daily_cap_cents) return null
    await tx.updateTable('wallet').set({ auto_attempted_at: now }).where('org_id', '=', organizationId).execute()
    const key = `auto ${now.toISOString()}`
    await attempts.open(
      tx,
      {
        organizationId,
        kind: 'auto_topup',
        requestKey: key,
        cents: amount,
        credits: amount,
        bonusCredits: bonusCredits(amount),
        userId: null,
        invocationId: context.invocationId,
      },
      now,
    )
    return { amountCredits: amount, key }
  })
}

/** True when a card was asked. A refusal is told by its event; the next try comes after the pause. */
export async function run(context: PaymentContext, organizationId: string): Promise<boolean> {
  const turn = await takeTurn(context, organizationId)
  if (!turn) return false
  const { amountCredits: cents, key } = turn
  const wanted = {
    organizationId,
    kind: 'auto_topup' as const,
    requestKey: key,
    cents,
    credits: cents,
    bonusCredits: bonusCredits(cents),
    userId: null,
  }
  try {
    const { attempt, intent } = await pay(context, { ...wanted, offSession: true })
    await context.commit(organizationId, 'billing.auto_topup', (change) => outcome.settle(change, attempt.id, intent))
  } catch (error) {
    if (!(error instanceof Problem) || error.slug === 'payment-processor-outage') throw error // The sweep finds out what became of it.
    await giveUp(context, organizationId, key, error.slug)
  }
  return true
}

async function giveUp(context: PaymentContext, organizationId: string, key: string, reason: string): Promise<void> {
  await context.commit(organizationId, 'billing.auto_topup', async (change) => {
    const attempt = await change.tx
      .selectFrom('payment_attempt')
      .selectAll()
      .where('org_id', '=', organizationId)
      .where('kind', '=', 'auto_topup')
      .where('request_key', '=', key)
      .forUpdate()
      .executeTakeFirst()
    if (
      attempt &&
      (await attempts.move(change.tx, attempt.id, { from: ['created', 'pending'], to: 'failed', failure: reason }, change.clock.now()))
    )
      outcome.fail(change, attempt, reason)
  })
}
