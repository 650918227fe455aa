/** When an item changes its lifecycle state automatically, and to what. Arithmetic only: `retention.ts` changes the rows. */
import { DAY_MS } from '#core/time.ts'
import type { LifecycleState } from '#core/vocabulary.ts'
import { PLANS, type Retention } from './plan.ts'

interface AgingItem {
  lifecycleState: LifecycleState
  createdAt: Date
  lastAccessedAt: Date | null
}

interface Transition {
  to: LifecycleState
  at: Date
}

/** The automatic transition from a state under a plan; null if there is none. */
export function nextTransition(
  { lifecycleState, createdAt, lastAccessedAt }: AgingItem,
  rules: Retention,
  rulesSince: Date,
): Transition | null {
  const start = later(createdAt, rulesSince)
  const after = (days: number | null, to: LifecycleState, from: Date = start): Transition | null =>
    days === null ? null : { to, at: new Date(from.getTime() + days * DAY_MS) }
  switch (lifecycleState) {
    case 'active':
      return after(rules.expiringAfterDays, 'expiring') ?? after(rules.archivedAfterIdleDays, 'archived', later(start, lastAccessedAt))
    case 'expiring':
      return after(rules.expiredAfterDays, 'expired')
    case 'expired':
      return after(rules.deletedAfterDays, 'deleted')
    case 'archived':
    case 'deleted':
      return null
  }
}

/** Whether an item's retention under a plan has ended, whatever its current state. */
export function isPastWindow({ createdAt }: Pick<AgingItem, 'createdAt'>, rules: Retention, rulesSince: Date, now: Date): boolean {
  return rules.expiredAfterDays !== null && later(createdAt, rulesSince).getTime() + rules.expiredAfterDays * DAY_MS <= now.getTime()
}

function later(a: Date, b: Date | null): Date {
  return b && b > a ? b : a
}

/** Days from creation to the first transition, by plan, for statements that create items. */
export const FIRST_TRANSITION_DAYS = JSON.stringify(
  Object.fromEntries(PLANS.map(({ id, retention }) => [id, retention.expiringAfterDays ?? retention.archivedAfterIdleDays])),
)

/** States that an upgrade resets, because they come from the free plan's retention. */
export const RESTORED_BY_UPGRADE: readonly LifecycleState[] = ['expiring', 'expired']
