import { Closed } from '#core/shapes.ts'
import { sweepReports } from '#services/documents/report-store.ts'
import { task } from '#task.ts'

/** Once a night, what has outlived its addresses goes. */
export default task({ name: 'reports.sweep', data: Closed({}), schedule: '41 3 * * *' }).handle(async (context) => {
  await sweepReports(context)
})
