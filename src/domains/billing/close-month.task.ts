import { periodNamed } from '#core/period.ts'
import { closeMonthTask } from '#model/money/tasks.ts'
import { task } from '#task.ts'
import * as monthlyClose from '#model/money/monthly-close.ts'

/** Closes one month of one organization. A closed month never changes. */
export default task({ ...closeMonthTask, retryLimit: 10 }).handle(async ({ commit }, { organization_id, period }) => {
  await commit(organization_id, 'billing.close_month', (change) => monthlyClose.close(change, organization_id, periodNamed(period)))
})
