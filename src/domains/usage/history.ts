import Type from 'typebox'
import { DAY_MS } from '#core/time.ts'
import { invalidField, problem } from '#core/problem.ts'
import { parseInstant } from '#core/interval.ts'
import { Choice, Closed, Defaulted, Described, Uuid } from '#core/shapes.ts'
import * as organizations from '#model/identity/organization.ts'
import * as reports from '#model/plans/usage-report.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_METERS, meters, toMeters } from './wire.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'

const MAX_DAYS = 366
const MAX_MONTHS = 60

const Instant = Type.String({ minLength: 10, maxLength: 40 })

/**
 * Returns the organization's usage by month or day. Storage of a day is its maximum; of a month, the mean of its days. The
 * period is either the last `months`, or `from` and `to`.
 */
export default operation({
  id: 'usage.history',
  scope: 'usage:read',
  tier: 'read',
  input: Closed({
    organization_id: Type.Optional(Type.String({ description: "Organization ID; defaults to the caller's organization" })),
    months: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_MONTHS, description: 'Number of months to return; 3 by default, ignored with `from`' }),
    ),
    from: Described(Type.Optional(Instant), 'Start of the period: day (`YYYY-MM-DD`) or time'),
    to: Described(Type.Optional(Instant), 'End of the period: day (`YYYY-MM-DD`) or time'),
    granularity: Defaulted(Choice(['day', 'month']), 'month', { description: 'Period of each data point' }),
  }),
  output: Closed(
    {
      organization_id: Described(Uuid, 'Organization ID'),
      granularity: Choice(['day', 'month'], { description: 'Period of each data point' }),
      points: Type.Array(Closed({ period: Type.String({ description: 'Day or month of the data point' }), ...meters }), {
        description: 'Usage per period, oldest first',
      }),
    },
    { description: 'Usage per period, oldest first' },
  ),
  example: {
    input: { organization_id: EXAMPLE_IDS.organization, months: 1 },
    output: { organization_id: EXAMPLE_IDS.organization, granularity: 'month', points: [{ period: '2026-03', ...EXAMPLE_METERS }] },
  },
}).handle({
  async check({ principal, clock }, { organization_id, months, from, to, granularity }) {
    const organizationId =
      organization_id === undefined
        ? organizations.requireOrganization(principal)
        : organizations.requireNamedOrganization(principal, organization_id)
    if (months !== undefined && from !== undefined) throw problem('bad-request', 'Send either months or from and to')
    const end = to === undefined ? clock.now() : dayIn(to, 'to')
    const start = from === undefined ? monthsBefore(end, (months ?? 3) - 1) : dayIn(from, 'from')
    if (start > end) throw invalidField('from', 'must not be after to')
    const days = (end.getTime() - start.getTime()) / DAY_MS
    if (granularity === 'day' && days > MAX_DAYS)
      throw invalidField('from', `must be at most ${MAX_DAYS} days before to with granularity day; use month or a shorter period`)
    if (days > MAX_MONTHS * 31) throw invalidField('from', `must be at most ${MAX_MONTHS} months before to`)
    return { organizationId, from: start, to: end }
  },
  async execute({ db, clock }, { granularity }, { organizationId, from, to }) {
    const points = await reports.history(db, organizationId, { from, to, granularity, now: clock.now() })
    return {
      organization_id: organizationId,
      granularity,
      points: points.map((point) => ({ period: point.period, ...toMeters(point) })),
    }
  },
})

const dayIn = (text: string, field: string): Date => parseInstant(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text, field)

/** The first day of the month that is `months` earlier. */
function monthsBefore(at: Date, months: number): Date {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - months, 1))
}
