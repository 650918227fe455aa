import Type from 'typebox'
import { isUuid } from '#core/ids.ts'
import { notFound } from '#core/problem.ts'
import { Closed, Limit, Nullable, Offset } from '#core/shapes.ts'
import * as alertEvents from '#model/events/alert-event.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { EventRecord, EXAMPLE_EVENT, RuleId, toEvent } from './wire.ts'

/** Alert events on items that the caller can read, latest first. */
export default operation({
  id: 'alerts.events.list',
  scope: 'alerts:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({
    rule_id: Type.Optional(Nullable(RuleId)),
    acknowledged: Type.Optional(Nullable(Type.Boolean({ description: 'Only acknowledged (`true`) or unacknowledged (`false`) events' }))),
    limit: Limit(50, 200),
    offset: Offset,
  }),
  output: Closed({
    alert_events: Type.Array(EventRecord, { description: 'Alert events of this page' }),
    count: Type.Integer({ description: 'Number of results returned' }),
  }),
  example: { input: { acknowledged: false }, output: { alert_events: [EXAMPLE_EVENT], count: 1 } },
}).handle({
  async execute({ db, principal }, { rule_id, acknowledged, limit, offset }) {
    const organizationId = requireOrganization(principal)
    if (rule_id != null && !isUuid(rule_id)) throw notFound('alert rule')
    const events = await alertEvents.list(db, organizationId, {
      ruleId: rule_id ?? null,
      acknowledged: acknowledged ?? null,
      hiddenProjects: await projects.hiddenFrom(db, principal),
      limit,
      offset,
    })
    return { alert_events: events.map(toEvent), count: events.length }
  },
})
