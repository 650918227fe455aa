import type { Clock } from '#core/clock.ts'
import * as deliveries from '#model/events/delivery.ts'
import * as notifications from '#model/events/notification.ts'
import type { Context } from '#operation.ts'

/** After so many failures in a row people are told; nothing is paused by itself. */
const FAILURES_TO_TELL = 20

/** Writes outcomes, and tells owners and admins of dead letters and of endpoints that fail and fail: once a day for each. */
export async function finish({ db, clock }: { db: Context['db']; clock: Clock }, outcomes: readonly deliveries.Outcome[]): Promise<void> {
  if (outcomes.length === 0) return
  await db.transaction().execute(async (tx) => {
    const now = clock.now()
    const day = now.toISOString().slice(0, 10)
    for (const noted of await deliveries.finish(tx, outcomes, FAILURES_TO_TELL, now)) {
      const host = new URL(noted.endpointUrl).host
      const news: notifications.NewNotification[] = []
      if (noted.deadCount > 0)
        news.push({
          kind: 'webhook',
          title: `A webhook to ${host} was given up`,
          body:
            `A delivery failed for the last time. event_subscriptions.deliveries.list shows it for subscription ${noted.id}, ` +
            'and event_subscriptions.deliveries.retry sends it again.',
          dedupeKey: `dead:${noted.id}:${day}`,
        })
      if (noted.hasReached)
        news.push({
          kind: 'webhook',
          title: `Webhooks to ${host} keep failing`,
          body:
            `${FAILURES_TO_TELL} deliveries of subscription ${noted.id} failed in a row. They go on being tried; ` +
            'pause the subscription if the endpoint is gone.',
          dedupeKey: `failing:${noted.id}:${day}`,
        })
      await notifications.notify(tx, noted.organizationId, 'admins', news, now)
    }
  })
}
