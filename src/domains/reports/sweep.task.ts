import { Closed } from '#core/shapes.ts'
import { sweepReports } from '#services/documents/report-store.ts'
import { task } from '#task.ts'

/** Removes expired reports every night. */
export default task({ name: 'reports.sweep', data: Closed({}), schedule: '41 3 * * *' }).handle(async (context) => {
  await sweepReports(context)
})
