import { Closed } from '#core/shapes.ts'
import { DAY_MS } from '#core/time.ts'
import * as alertEvaluations from '#model/events/alert-evaluation.ts'
import * as deliveries from '#model/events/delivery.ts'
import { task } from '#task.ts'

/** What ended is kept so long, dead letters too. */
const KEPT_MS = 30 * DAY_MS
/** At least so long a delivery waits behind an endpoint that takes nothing; longer where the schedule is. */
const LEAST_PATIENCE_MS = 3 * DAY_MS

/** Gives up what an endpoint has not taken for days, and forgets what ended a month ago and items whose pixels never came. */
export default task({ name: 'webhooks.sweep', data: Closed({}), schedule: '23 * * * *' }).handle(async ({ db, clock, webhooks }) => {
  const now = clock.now()
  const scheduleMs = webhooks.backoffSeconds.reduce((sum, step) => sum + step, 0) * 1_000
  await deliveries.sweep(db, now, {
    giveUpBefore: new Date(now.getTime() - Math.max(LEAST_PATIENCE_MS, 2 * scheduleMs)),
    forgetBefore: new Date(now.getTime() - KEPT_MS),
  })
  await alertEvaluations.sweep(db, new Date(now.getTime() - KEPT_MS))
})
