import { newId } from '#core/ids.ts'
import type { Org, World } from '../../support/world.ts'
import { item, other } from '../makers.ts'
import type { Rows } from '../rows.ts'
import { NOBODY, READS_OWN } from '../statuses.ts'

const terms = { name: 'x', expression: 'b1', comparison: 'gt', threshold: 1 }
const rule = async (w: World, org: Org) => ({
  rule_id: (await w.ok(org.owner.token, 'alerts.create_rule', terms)).alert_rule.id as string,
})
const event = async (w: World, org: Org) => {
  const [id, { rule_id }] = [newId(), await rule(w, org)]
  await w.db
    .insertInto('alert_event')
    .values({ id, org_id: org.id, rule_id, project_id: org.projectId, item_id: 'x', computed_value: 1, triggered_at: w.clock.now() })
    .execute()
  return { event_id: id }
}
const otherRule = other('rule_id')
const CHANGES = {
  a: `${NOBODY} | 200 200 200 200 | 404 403 | 403 200 403 | 403 403 200 403`,
  b: `${NOBODY} | 404 404 404 404 | 200 403 | 403 404 403 | 403 403 404 403`,
}
const READS = {
  a: `${NOBODY} | 200 200 200 200 | 404 403 | 200 200 200 | 403 403 200 403`,
  b: `${NOBODY} | 404 404 404 404 | 200 403 | 404 404 404 | 403 403 404 403`,
}

export const rows: Rows = {
  'alerts.acknowledge_event': { ...CHANGES, input: event, missing: other('event_id'), breaks: 'column alert_event.acknowledged_by' },
  'alerts.create_rule': {
    a: `${NOBODY} | 200 200 200 200 | 200 403 | 403 200 403 | 403 403 200 403`,
    input: () => terms,
    breaks: 'table alert_rule',
  },
  'alerts.delete_rule': { ...CHANGES, input: rule, missing: otherRule, breaks: 'table alert_rule' },
  'alerts.events.list': { ...READS_OWN, input: () => ({}), breaks: 'table alert_event' },
  'alerts.rule.get': { ...READS, input: rule, missing: otherRule, breaks: 'table alert_rule' },
  'alerts.rules.list': { ...READS_OWN, input: () => ({}), breaks: 'table alert_rule' },
  /** Whoever may read the item is told that its file lies on a host that is not an allowed one. */
  'alerts.test_rule': {
    a: READS.a.replaceAll('200', '400'),
    b: READS.b.replaceAll('200', '400'),
    input: async (w, org) => ({ ...(await rule(w, org)), ...(await item(w, org)) }),
    missing: otherRule,
    breaks: 'table alert_rule',
  },
  'alerts.update_rule': {
    ...CHANGES,
    input: async (w, org) => ({ ...(await rule(w, org)), name: 'y' }),
    missing: otherRule,
    breaks: 'column alert_rule.updated_at',
  },
}
