import type { Context } from '#operation.ts'
import * as usageReports from '#model/plans/usage-report.ts'
import type { ReportDocument } from '#services/documents/report.ts'
import { DAY_MS } from '#core/time.ts'
import { bytes, sum, whole } from './figures.lib.ts'
import type { Period } from './period.lib.ts'

type Body = Omit<ReportDocument, 'organization' | 'createdAt'>

/** Longer periods are reported by month. */
const MAX_DAYS_BY_DAY = 92

/** An organization's usage by day or month, with the limits of its plan. */
export async function usageBody({ db, clock }: Pick<Context, 'db' | 'clock'>, organizationId: string, period: Period): Promise<Body> {
  const granularity = period.to.getTime() - period.from.getTime() > MAX_DAYS_BY_DAY * DAY_MS ? 'month' : 'day'
  const points = await usageReports.history(db, organizationId, { from: period.from, to: period.to, granularity, now: clock.now() })
  const current = await usageReports.current(db, organizationId, clock.now())
  const shortLabel = (label: string) => (granularity === 'day' ? label.slice(5) : label)
  const chart = (title: string, unit: string, value: (point: usageReports.UsagePoint) => number) => ({
    title,
    unit,
    kind: granularity === 'day' ? ('line' as const) : ('bars' as const),
    points: points.map((point) => ({ label: shortLabel(point.period), value: value(point) })),
  })
  return {
    title: 'Usage report',
    subject: `Storage, downloads, tiles and jobs on the ${current.plan.name} plan`,
    period: period.label,
    facts: [
      { label: 'Current storage', value: `${bytes(current.storageBytes)} of ${bytes(current.plan.storageBytes)}` },
      { label: 'Downloaded', value: bytes(sum(points.map((point) => point.egressBytes))) },
      { label: 'Tiles rendered', value: whole(sum(points.map((point) => point.tiles))) },
      { label: 'Clip jobs', value: whole(sum(points.map((point) => point.computeJobs))) },
      { label: 'Other jobs', value: whole(sum(points.map((point) => point.processingJobs))) },
      { label: 'API calls', value: whole(sum(points.map((point) => point.apiCalls))) },
      { label: 'Clip jobs per month in the plan', value: whole(current.plan.computeJobs) },
      { label: 'Other jobs per month in the plan', value: whole(current.plan.processingJobs) },
    ],
    map: null,
    charts: [
      chart('Storage', 'gigabytes', (point) => point.storageBytes / 1e9),
      chart('Downloaded', 'gigabytes', (point) => point.egressBytes / 1e9),
      chart('Tiles rendered', 'tiles', (point) => point.tiles),
      chart('API calls', 'calls', (point) => point.apiCalls),
    ],
    tables: [
      {
        title: granularity === 'day' ? 'Usage by day' : 'Usage by month',
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
