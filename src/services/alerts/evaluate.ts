/** Evaluates an alert rule for an item in the background, separately from the change that created the item. */
import { SERVICE } from '#core/principal.ts'
import { Problem } from '#core/problem.ts'
import * as evaluations from '#model/events/alert-evaluation.ts'
import * as alertEvents from '#model/events/alert-event.ts'
import * as alertRules from '#model/events/alert-rule.ts'
import * as notifications from '#model/events/notification.ts'
import * as items from '#model/imagery/item-read.ts'
import type { Change } from '#effects.ts'
import type { Context } from '#operation.ts'
import { isMet, meanOf, NoPixels } from './rule-value.ts'

export type EvaluationContext = Pick<Context, 'db' | 'clock' | 'raster' | 'commit'> & { onError: (error: unknown) => void }

export async function evaluate(context: EvaluationContext, evaluation: evaluations.Evaluation): Promise<void> {
  const { db, clock } = context
  try {
    const rule = await alertRules.find(db, evaluation.ruleId)
    const access = rule?.isActive
      ? await items.requireReader(db, { ...SERVICE, organizationId: evaluation.organizationId }, evaluation.itemId).catch(nullIfNotFound)
      : null
    const value =
      rule && access && (await alertRules.mayReadProject(db, rule, access.item.projectId))
        ? await meanOf(context, access.item.seq, rule)
        : null
    if (rule && access && value !== null && isMet(rule, value)) await settleAndFire(context, evaluation, { rule, item: access.item, value })
    else if (!(await db.transaction().execute((tx) => evaluations.settle(tx, evaluation)))) await evaluations.release(db, evaluation)
  } catch (error) {
    if (error instanceof NoPixels) return await evaluations.waitForPixels(db, evaluation)
    const reason = error instanceof Problem ? error.message : 'The rule could not be evaluated because of an internal error'
    if (!(error instanceof Problem)) context.onError(error)
    await db.transaction().execute((tx) => evaluations.fail(tx, evaluation, reason, clock.now()))
  }
}

function nullIfNotFound(error: unknown): null {
  if (error instanceof Problem && error.status === 404) return null
  throw error
}

interface Met {
  rule: alertRules.AlertRule
  item: items.Item
  value: number
}

/** Settles the evaluation, fires the rule and records the alert in one change. */
async function settleAndFire({ db, commit }: EvaluationContext, evaluation: evaluations.Evaluation, met: Met): Promise<void> {
  const isSettled = await commit(evaluation.organizationId, 'alerts.evaluate', async (change) => {
    if (!(await evaluations.settle(change.tx, evaluation))) return false
    await fire(change, met)
    return true
  })
  if (!isSettled) await evaluations.release(db, evaluation)
}

async function fire({ tx, clock, events }: Change, { rule, item, value }: Met): Promise<void> {
  const now = clock.now()
  if (!(await alertRules.fire(tx, rule, now))) return
  const fired = await alertEvents.insert(
    tx,
    rule.organizationId,
    { ruleId: rule.id, projectId: item.projectId, itemId: item.id, computedValue: value },
    now,
  )
  events.emit('alert.triggered', fired.id, {
    id: fired.id,
    rule_id: rule.id,
    rule_name: rule.name,
    project_id: item.projectId,
    item_id: item.id,
    expression: rule.expression,
    comparison: rule.comparison,
    threshold: rule.threshold,
    threshold_upper: rule.thresholdUpper,
    computed_value: value,
    notification_channels: rule.notificationChannels,
    triggered_at: now.toISOString(),
  })
  if (!rule.notificationChannels.includes('in_app')) return
  const news = { kind: 'alert' as const, title: `Alert: ${rule.name}`, body: bodyOf(rule, item, value), dedupeKey: null }
  await notifications.notify(tx, rule.organizationId, rule.createdBy && rule.userId ? { userId: rule.userId } : 'admins', [news], now)
}

const SHOWN_DIGITS = 6

function bodyOf(rule: alertRules.AlertRule, { name }: items.Item, value: number): string {
  const condition = {
    lt: `below ${rule.threshold}`,
    gt: `above ${rule.threshold}`,
    eq: `equal to ${rule.threshold}`,
    between: `between ${rule.threshold} and ${rule.thresholdUpper}`,
  }[rule.comparison]
  return `The mean of ${rule.expression} is ${Number(value.toPrecision(SHOWN_DIGITS))}, ${condition}, on ${name}`
}
