import { Closed } from '#core/shapes.ts'
import { DAY_MS } from '#core/time.ts'
import * as alertEvaluations from '#model/events/alert-evaluation.ts'
import * as deliveries from '#model/events/delivery.ts'
import { task } from '#task.ts'

/** Of alert evaluations whose item never became readable. */
const EVALUATION_MS = 30 * DAY_MS
/** Minimum time that a delivery waits for a failing endpoint; longer if the retry schedule is. */
const MIN_WAIT_MS = 3 * DAY_MS

/** Gives up deliveries that an endpoint has not accepted for days, and deletes old deliveries and alert evaluations. */
export default task({ name: 'webhooks.sweep', data: Closed({}), schedule: '23 * * * *' }).handle(
  async ({ db, clock, webhooks, retention }) => {
    const now = clock.now()
    const scheduleMs = webhooks.backoffSeconds.reduce((sum, step) => sum + step, 0) * 1_000
    await deliveries.sweep(db, now, {
      giveUpBefore: new Date(now.getTime() - Math.max(MIN_WAIT_MS, 2 * scheduleMs)),
      forgetBefore: retention.deliveryDays > 0 ? new Date(now.getTime() - retention.deliveryDays * DAY_MS) : null,
    })
    await alertEvaluations.sweep(db, new Date(now.getTime() - EVALUATION_MS))
  },
)
