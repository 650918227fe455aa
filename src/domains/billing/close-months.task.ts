import Type from 'typebox'
import { periodBefore, periodNamed } from '#core/period.ts'
import { Closed } from '#core/shapes.ts'
import { job } from '#task.ts'
import { unclosed } from '#model/money/monthly-close.ts'
import closeMonth from './close-month.task.ts'
import { PeriodName } from './wire.ts'

/** On the first of each month: a piece of work for each organization, so that one that fails holds up no other. */
export default job({
  name: 'billing.close_months',
  data: Closed({ period: Type.Optional(PeriodName) }),
  schedule: '10 0 1 * *',
  timeoutSeconds: 1_800,
}).handle(async ({ db, clock, jobs }, { period: name }) => {
  const period = name ? periodNamed(name) : periodBefore(clock.now())
  for (let last: string | null = null; ;) {
    const ids: string[] = await unclosed(db, period, last)
    if (ids.length === 0) return
    await db.transaction().execute(async (tx) => {
      for (const organization_id of ids) await jobs(tx).enqueue(closeMonth, { organization_id, period: period.name })
    })
    last = ids.at(-1)!
  }
})
