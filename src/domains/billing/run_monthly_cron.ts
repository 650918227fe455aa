import Type from 'typebox'
import { PeriodName, periodBefore } from '#core/period.ts'
import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { closeMonthsTask } from '#model/money/tasks.ts'

/** Operators only: closes the previous month in the background, for every organization where it is open. */
export default operation({
  id: 'billing.run_monthly_cron',
  scope: 'admin:write',
  tier: 'compute',
  input: Closed({}),
  output: Closed({ period: PeriodName, queued: Type.Literal(true) }),
  example: { input: {}, output: { period: '2026-02', queued: true } },
}).handle({
  async execute({ clock, tasks }) {
    const { name } = periodBefore(clock.now())
    await tasks.enqueue(closeMonthsTask, { period: name })
    return { period: name, queued: true as const }
  },
})
