import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import * as alertEvents from '#model/events/alert-event.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { EventRecord, EXAMPLE_EVENT, toEvent } from './wire.ts'

/** Marks an alert event as acknowledged. */
export default operation({
  id: 'alerts.acknowledge_event',
  scope: 'alerts:write',
  tier: 'compute',
  input: Closed({ event_id: Type.String({ maxLength: 100, description: 'Alert event ID' }) }),
  output: Closed({ alert_event: EventRecord }, { description: 'The acknowledged alert event' }),
  example: {
    input: { event_id: EXAMPLE_EVENT.id },
    output: { alert_event: { ...EXAMPLE_EVENT, acknowledged: true, acknowledged_at: '2026-03-02T08:00:00.000Z' } },
  },
}).handle({
  async check({ db, principal }, { event_id }) {
    const organizationId = requireOrganization(principal)
    return await alertEvents.requireOf(db, organizationId, event_id, await projects.hiddenFrom(db, principal))
  },
  async execute({ tx, principal, clock }, _input, event) {
    return { alert_event: toEvent(await alertEvents.acknowledge(tx, event, principal.userId, clock.now())) }
  },
})
