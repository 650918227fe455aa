/** The time that a plan keeps items for. Past it only an upgrade brings an item back: no state that somebody sets by hand does. */
import { problem } from '#core/problem.ts'
import type { LifecycleState } from '#core/vocabulary.ts'
import type { Db, Tx } from '#db/tables.ts'
import { requireKnownPlan, type Plan } from '#model/plans/plan.ts'
import { isPastWindow } from '#model/plans/retention-rules.ts'
import type { Item } from './item-read.ts'

type Aging = Pick<Item, 'organizationId' | 'createdAt' | 'lifecycleState'>

/** The plan that an item has outlived; null while it has time left. */
async function outlived(db: Db, { organizationId, createdAt }: Aging, now: Date): Promise<Plan | null> {
  const { planId, since } = await db
    .selectFrom('organization')
    .select(['plan_id as planId', 'retention_since as since'])
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow()
  const plan = requireKnownPlan(planId)
  return isPastWindow({ createdAt }, plan.retention, since, now) ? plan : null
}

export async function requireTimeLeft(tx: Tx, item: Aging, wanted: LifecycleState, now: Date): Promise<void> {
  if (wanted === 'expired') return
  const plan = await outlived(tx, item, now)
  if (plan)
    throw problem(
      'bad-request',
      `This item is past the ${plan.retention.expiredAfterDays} days that the plan '${plan.name}' keeps items. ` +
        'Upgrade with billing.plan.change; that brings it back.',
    )
}

/** 410 for files of an item that is past its retention, also of one that was put into the archive before. */
export async function requireDownloadable(db: Db, item: Aging, now: Date): Promise<void> {
  const { lifecycleState } = item
  if (lifecycleState === 'expired' || lifecycleState === 'deleted')
    throw problem('gone', `This item is ${lifecycleState}, so its files can no longer be downloaded`)
  if (lifecycleState === 'archived' && (await outlived(db, item, now)))
    throw problem(
      'gone',
      'This item is past its retention, so its files can no longer be downloaded. An upgrade of the plan brings them back',
    )
}
