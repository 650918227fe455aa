import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import * as subscriptions from '#model/events/subscription.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_SUBSCRIPTION, SubscriptionId } from './wire.ts'

/** Deletes a subscription; its queued deliveries are not sent. Only its creator, an admin or an owner can do this. */
export default operation({
  id: 'event_subscriptions.delete',
  scope: 'event_subscriptions:write',
  tier: 'destructive',
  input: Closed({ subscription_id: SubscriptionId }),
  output: Closed(
    {
      ok: Type.Literal(true, { description: 'Always `true`' }),
      id: Type.String({ description: 'Event subscription ID' }),
      deleted: Type.Literal(true, { description: 'Same as `ok`' }),
    },
    { description: 'Confirmation of the deletion' },
  ),
  example: { input: { subscription_id: EXAMPLE_SUBSCRIPTION.id }, output: { ok: true, id: EXAMPLE_SUBSCRIPTION.id, deleted: true } },
}).handle({
  async check({ db, principal }, { subscription_id }) {
    return await subscriptions.requireChangeable(db, principal, requireOrganization(principal), subscription_id)
  },
  async execute({ tx }, _input, { id }) {
    await subscriptions.remove(tx, id)
    return { ok: true as const, id, deleted: true as const }
  },
})
