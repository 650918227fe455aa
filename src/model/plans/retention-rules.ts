/** When an item moves on by itself, and to what. Only arithmetic: the rows are moved in `retention.ts`. */
import { DAY_MS } from '#core/time.ts'
import type { LifecycleState } from '#core/vocabulary.ts'
import { PLANS, type Retention } from './plan.ts'

interface Aging {
  lifecycleState: LifecycleState
  createdAt: Date
  lastAccessedAt: Date | null
}

interface Move {
  to: LifecycleState
  at: Date
}

/** The one move that a state has under a plan; null where it stays until somebody moves it. */
export function nextMove({ lifecycleState, createdAt, lastAccessedAt }: Aging, rules: Retention, rulesSince: Date): Move | null {
  const begun = later(createdAt, rulesSince)
  const after = (days: number | null, to: LifecycleState, from: Date = begun): Move | null =>
    days === null ? null : { to, at: new Date(from.getTime() + days * DAY_MS) }
  switch (lifecycleState) {
    case 'active':
      return after(rules.expiringAfterDays, 'expiring') ?? after(rules.archivedAfterIdleDays, 'archived', later(begun, lastAccessedAt))
    case 'expiring':
      return after(rules.expiredAfterDays, 'expired')
    case 'expired':
      return after(rules.deletedAfterDays, 'deleted')
    case 'archived':
    case 'deleted':
      return null
  }
}

/** Whether an item has had its time under a plan, whatever state somebody gave it. */
export function isPastWindow({ createdAt }: Pick<Aging, 'createdAt'>, rules: Retention, rulesSince: Date, now: Date): boolean {
  return rules.expiredAfterDays !== null && later(createdAt, rulesSince).getTime() + rules.expiredAfterDays * DAY_MS <= now.getTime()
}

function later(a: Date, b: Date | null): Date {
  return b && b > a ? b : a
}

/** Days from creation to the first move, by plan, for statements that make items. */
export const FIRST_MOVE_DAYS = JSON.stringify(
  Object.fromEntries(PLANS.map(({ id, retention }) => [id, retention.expiringAfterDays ?? retention.archivedAfterIdleDays])),
)

/** What an upgrade brings back: the free plan's marks have no meaning any more. */
export const REVIVED_BY_UPGRADE: readonly LifecycleState[] = ['expiring', 'expired']
