import type { Context } from '#operation.ts'
import * as usageReports from '#model/plans/usage-report.ts'
import type { ReportDocument } from '#services/documents/report.ts'
import { DAY_MS } from '#core/time.ts'
import { bytes, sum, whole } from './figures.lib.ts'
import type { Period } from './period.lib.ts'

type Body = Omit<ReportDocument, 'organization' | 'createdAt'>

/** Longer than this is told by months. */
const MAX_DAYS_BY_DAY = 92

/** What an organization used, day by day or month by month, beside what its plan allows. */
export async function usageBody({ db, clock }: Pick<Context, 'db' | 'clock'>, organizationId: string, period: Period): Promise<Body> {
  const granularity = period.to.getTime() - period.from.getTime() > MAX_DAYS_BY_DAY * DAY_MS ? 'month' : 'day'
  const points = await usageReports.history(db, organizationId, { from: period.from, to: period.to, granularity, now: clock.now() })
  const now = await usageReports.current(db, organizationId, clock.now())
  const short = (label: string) => (granularity === 'day' ? label.slice(5) : label)
  const chart = (title: string, unit: string, value: (point: usageReports.UsagePoint) => number) => ({
    title,
    unit,
    kind: granularity === 'day' ? ('line' as const) : ('bars' as const),
    points: points.map((point) => ({ label: short(point.period), value: value(point) })),
  })
  return {
    title: 'Usage report',
    subject: `Storage, transfers, tiles and jobs on the plan ${now.plan.name}`,
    period: period.label,
    facts: [
      { label: 'Stored now', value: `${bytes(now.storageBytes)} of ${bytes(now.plan.storageBytes)}` },
      { label: 'Downloaded', value: bytes(sum(points.map((point) => point.egressBytes))) },
      { label: 'Tiles drawn', value: whole(sum(points.map((point) => point.tiles))) },
      { label: 'Clip jobs', value: whole(sum(points.map((point) => point.computeJobs))) },
      { label: 'Other jobs', value: whole(sum(points.map((point) => point.processingJobs))) },
      { label: 'Calls', value: whole(sum(points.map((point) => point.apiCalls))) },
      { label: 'Clip jobs of a month in the plan', value: whole(now.plan.computeJobs) },
      { label: 'Other jobs of a month in the plan', value: whole(now.plan.processingJobs) },
    ],
    map: null,
    charts: [
      chart('Stored', 'gigabytes', (point) => point.storageBytes / 1e9),
      chart('Downloaded', 'gigabytes', (point) => point.egressBytes / 1e9),
      chart('Tiles drawn', 'tiles', (point) => point.tiles),
      chart('Calls', 'calls', (point) => point.apiCalls),
    ],
    tables: [
      {
        title: granularity === 'day' ? 'Day by day' : 'Month by month',
        columns: [
          { key: 'period', label: granularity === 'day' ? 'Day' : 'Month', share: 2 },
          { key: 'storage_bytes', label: 'Stored bytes', isNumber: true, share: 3 },
          { key: 'egress_bytes', label: 'Downloaded bytes', isNumber: true, share: 3 },
          { key: 'tiles', label: 'Tiles', isNumber: true, share: 2 },
          { key: 'compute_jobs', label: 'Clips', isNumber: true, share: 1 },
          { key: 'processing_jobs', label: 'Jobs', isNumber: true, share: 1 },
          { key: 'api_calls', label: 'Calls', isNumber: true, share: 2 },
        ],
        rows: points.map((point) => [
          point.period,
          point.storageBytes,
          point.egressBytes,
          point.tiles,
          point.computeJobs,
          point.processingJobs,
          point.apiCalls,
        ]),
        more: 0,
      },
    ],
  }
}
