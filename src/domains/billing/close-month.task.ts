import { periodNamed } from '#core/period.ts'
import { Closed, Uuid } from '#core/shapes.ts'
import { job } from '#task.ts'
import * as monthlyClose from '#model/money/monthly-close.ts'
import { PeriodName } from './wire.ts'

/** Closes one month of one organization. A month that is closed stays as it is. */
export default job({ name: 'billing.close_month', data: Closed({ organization_id: Uuid, period: PeriodName }), retryLimit: 10 }).handle(
  async ({ aside }, { organization_id, period }) => {
    await aside(organization_id, 'billing.close_month', (books) => monthlyClose.close(books, organization_id, periodNamed(period)))
  },
)
