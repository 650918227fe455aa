/** Spending limits of members: per order, and within any 30 days. A member's spending is what they agreed to. */
import { DAY_MS } from '#core/time.ts'
import { problem, type Problem } from '#core/problem.ts'
import type { Db, Tx } from '#db/tables.ts'
import * as agreedSpend from './agreed-spend.ts'
import * as approvals from './approval.ts'

const WINDOW_DAYS = 30

interface Purchase {
  organizationId: string
  userId: string
  /** What the member agrees to now. */
  credits: number
  /** The order's reservation, if parts of it were agreed before, and the part that is agreed now. */
  reservationId: string | null
  part: string
}

/**
 * Rejects a purchase above the limits. Locks the member's row, so that concurrent orders are counted; returns the approval that waived
 * the limits.
 */
export async function requireWithin(tx: Tx, purchase: Purchase, now: Date): Promise<string | null> {
  const breach = await breachOf(tx, purchase, now, true)
  if (!breach) return null
  const approvalId = await approvals.use(tx, purchase.organizationId, purchase.userId, purchase.credits, now)
  if (!approvalId) throw breach
  return approvalId
}

/** The same without a lock or an effect, before a card hold: no hold is taken for an order that would be rejected. */
export async function requireLikely(db: Db, purchase: Purchase, now: Date): Promise<void> {
  const breach = await breachOf(db, purchase, now, false)
  if (breach && !(await approvals.covers(db, purchase.organizationId, purchase.userId, purchase.credits, now))) throw breach
}

/** A user's limits in each of their organizations, and what they spent within the window. */
export async function capsOf(db: Db, userId: string, now: Date) {
  const since = new Date(now.getTime() - WINDOW_DAYS * DAY_MS)
  const members = await db
    .selectFrom('organization_member')
    .select(['org_id as organizationId', 'per_order_limit_credits as perOrder', 'spend_limit_credits as rolling'])
    .where('user_id', '=', userId)
    .execute()
  return await Promise.all(
    members.map(async (member) => {
      const spender = { organizationId: member.organizationId, userId }
      const { rolling: spent } = await agreedSpend.spentBy(db, spender, { since, reservationId: null, part: null })
      return { ...member, spent }
    }),
  )
}

async function breachOf(
  db: Db,
  { organizationId, userId, credits, reservationId, part }: Purchase,
  now: Date,
  locked: boolean,
): Promise<Problem | null> {
  const member = await db
    .selectFrom('organization_member')
    .select(['per_order_limit_credits as perOrder', 'spend_limit_credits as rolling'])
    .where('org_id', '=', organizationId)
    .where('user_id', '=', userId)
    .$if(locked, (query) => query.forNoKeyUpdate())
    .executeTakeFirst()
  if (!member) return null
  const { perOrder, rolling } = member
  const since = new Date(now.getTime() - WINDOW_DAYS * DAY_MS)
  const { rolling: used, inOrder } = await agreedSpend.spentBy(db, { organizationId, userId }, { since, reservationId, part })
  if (perOrder !== null && inOrder + credits > perOrder) {
    const before = inOrder > 0 ? `, in addition to ${inOrder} already accepted in this order` : ''
    return exceeded(`This costs ${credits} credits${before}; the limit per order is ${perOrder} credits (per_order_limit_credits)`, {
      limit: perOrder,
      used: inOrder,
      required_credits: credits,
    })
  }
  if (rolling === null) return null
  if (used + credits <= rolling) return null
  return exceeded(
    `This order costs ${credits} credits and ${used} were spent in the last ${WINDOW_DAYS} days; ` +
      `the limit for ${WINDOW_DAYS} days is ${rolling} credits (spend_limit_credits)`,
    { limit: rolling, used, required_credits: credits },
  )
}

const exceeded = (detail: string, members: Record<string, unknown>) => problem('spend-limit-exceeded', detail, { members })
