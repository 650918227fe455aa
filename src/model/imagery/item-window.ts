/** The time for which a plan keeps items. After it, only an upgrade restores an item; setting its state by hand does not. */
import { problem } from '#core/problem.ts'
import type { LifecycleState } from '#core/vocabulary.ts'
import type { Db, Tx } from '#db/tables.ts'
import { requireKnownPlan, type Plan } from '#model/plans/plan.ts'
import { isPastWindow } from '#model/plans/retention-rules.ts'
import type { Item } from './item-read.ts'

type AgingItem = Pick<Item, 'organizationId' | 'createdAt' | 'lifecycleState'>

/** The plan whose retention an item has passed; null while it has time left. */
async function expiredPlan(db: Db, { organizationId, createdAt }: AgingItem, now: Date): Promise<Plan | null> {
  const { planId, since } = await db
    .selectFrom('organization')
    .select(['plan_id as planId', 'retention_since as since'])
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow()
  const plan = requireKnownPlan(planId)
  return isPastWindow({ createdAt }, plan.retention, since, now) ? plan : null
}

export async function requireTimeLeft(tx: Tx, item: AgingItem, state: LifecycleState, now: Date): Promise<void> {
  if (state === 'expired') return
  const plan = await expiredPlan(tx, item, now)
  if (plan)
    throw problem(
      'bad-request',
      `This item is past the ${plan.retention.expiredAfterDays}-day retention of the plan '${plan.name}'. ` +
        'Upgrade with billing.plan.change to restore it.',
    )
}

/** 410 for files of an item past its retention, even if it was archived before. */
export async function requireDownloadable(db: Db, item: AgingItem, now: Date): Promise<void> {
  const { lifecycleState } = item
  if (lifecycleState === 'expired' || lifecycleState === 'deleted')
    throw problem('gone', `This item is ${lifecycleState}, so its files can no longer be downloaded`)
  if (lifecycleState === 'archived' && (await expiredPlan(db, item, now)))
    throw problem('gone', 'This item is past its retention, so its files can no longer be downloaded. Upgrade the plan to restore them.')
}
