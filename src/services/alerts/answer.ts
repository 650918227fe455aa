/** Answers the questions that events put to alert rules, apart from whatever made the item. */
import { SERVICE } from '#core/principal.ts'
import { Problem } from '#core/problem.ts'
import * as evaluations from '#model/events/alert-evaluation.ts'
import * as alertEvents from '#model/events/alert-event.ts'
import * as alertRules from '#model/events/alert-rule.ts'
import * as notifications from '#model/events/notification.ts'
import * as items from '#model/imagery/item-read.ts'
import type { Change } from '#effects.ts'
import type { Context } from '#operation.ts'
import { isMet, meanOf, NoPixels } from './evaluate.ts'

export type Answering = Pick<Context, 'db' | 'clock' | 'raster' | 'commit'> & { onError: (error: unknown) => void }

export async function answer(context: Answering, question: evaluations.Evaluation): Promise<void> {
  const { db, clock } = context
  try {
    const rule = await alertRules.find(db, question.ruleId)
    const found = rule?.isActive
      ? await items.requireReader(db, { ...SERVICE, organizationId: question.organizationId }, question.itemId).catch(gone)
      : null
    const value =
      rule && found && (await alertRules.mayReadProject(db, rule, found.item.projectId))
        ? await meanOf(context, found.item.seq, rule)
        : null
    if (rule && found && value !== null && isMet(rule, value)) await settleAndFire(context, question, { rule, item: found.item, value })
    else if (!(await db.transaction().execute((tx) => evaluations.settle(tx, question)))) await evaluations.release(db, question)
  } catch (error) {
    if (error instanceof NoPixels) return await evaluations.waitForPixels(db, question)
    const told = error instanceof Problem ? error.message : 'The rule could not be evaluated because of an internal error'
    if (!(error instanceof Problem)) context.onError(error)
    await db.transaction().execute((tx) => evaluations.fail(tx, question, told, clock.now()))
  }
}

function gone(error: unknown): null {
  if (error instanceof Problem && error.status === 404) return null
  throw error
}

interface Met {
  rule: alertRules.AlertRule
  item: items.Item
  value: number
}

/** One change: the question is settled, the rule's turn taken, the event recorded and told; or none of it. */
async function settleAndFire({ db, commit }: Answering, question: evaluations.Evaluation, met: Met): Promise<void> {
  const isSettled = await commit(question.organizationId, 'alerts.evaluate', async (change) => {
    if (!(await evaluations.settle(change.tx, question))) return false
    await fire(change, met)
    return true
  })
  if (!isSettled) await evaluations.release(db, question)
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
  const wanted = {
    lt: `below ${rule.threshold}`,
    gt: `above ${rule.threshold}`,
    eq: `equal to ${rule.threshold}`,
    between: `from ${rule.threshold} to ${rule.thresholdUpper}`,
  }[rule.comparison]
  return `The mean of ${rule.expression} is ${Number(value.toPrecision(SHOWN_DIGITS))}, ${wanted}, on ${name}`
}
