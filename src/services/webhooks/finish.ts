import type { Clock } from '#core/clock.ts'
import * as deliveries from '#model/events/delivery.ts'
import * as notifications from '#model/events/notification.ts'
import type { Context } from '#operation.ts'

/** Consecutive failures after which admins are notified. Nothing is paused automatically. */
const FAILURES_TO_NOTIFY = 20

/** Writes outcomes, and notifies owners and admins of dead letters and of endpoints that keep failing, once a day for each. */
export async function finish({ db, clock }: { db: Context['db']; clock: Clock }, outcomes: readonly deliveries.Outcome[]): Promise<void> {
  if (outcomes.length === 0) return
  await db.transaction().execute(async (tx) => {
    const now = clock.now()
    const day = now.toISOString().slice(0, 10)
    for (const subscription of await deliveries.finish(tx, outcomes, FAILURES_TO_NOTIFY, now)) {
      const host = new URL(subscription.endpointUrl).host
      const news: notifications.NewNotification[] = []
      if (subscription.deadCount > 0)
        news.push({
          kind: 'webhook',
          title: `A webhook to ${host} was not delivered`,
          body:
            `A delivery failed and is no longer retried. event_subscriptions.deliveries.list shows it for subscription ${subscription.id}; ` +
            'event_subscriptions.deliveries.retry sends it again.',
          dedupeKey: `dead:${subscription.id}:${day}`,
        })
      if (subscription.hasReached)
        news.push({
          kind: 'webhook',
          title: `Webhooks to ${host} keep failing`,
          body:
            `${FAILURES_TO_NOTIFY} deliveries in a row failed for subscription ${subscription.id}. We keep retrying; ` +
            'pause the subscription if the endpoint no longer exists.',
          dedupeKey: `failing:${subscription.id}:${day}`,
        })
      await notifications.notify(tx, subscription.organizationId, 'admins', news, now)
    }
  })
}
