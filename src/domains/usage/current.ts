import Type from 'typebox'
import { Closed, Described, Timestamp, Uuid } from '#core/shapes.ts'
import * as organizations from '#model/identity/organization.ts'
import * as reports from '#model/plans/usage-report.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_METERS, meters, toMeters } from './wire.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'

/** Returns the organization's usage in the current UTC month and the limits of its plan. It may lag by a second. */
export default operation({
  id: 'usage.current',
  scope: 'usage:read',
  tier: 'read',
  input: Closed({ organization_id: Type.Optional(Type.String({ description: "Organization ID; defaults to the caller's organization" })) }),
  output: Closed(
    {
      organization_id: Described(Uuid, 'Organization ID'),
      plan_id: Type.String({ description: 'Plan ID' }),
      period: Type.String({ description: 'Current month as `YYYY-MM`' }),
      ...meters,
      storage_reserved_bytes: Type.Integer({ description: 'Bytes reserved for uploads and jobs in progress' }),
      egress_bytes_last_24h: Type.Integer({ description: 'Bytes downloaded in the last 24 hours' }),
      limits: Closed(
        {
          storage_bytes: Type.Integer({ description: 'Storage included, in bytes' }),
          egress_bytes_per_24h: Type.Integer({ description: 'Bytes that can be downloaded in any 24 hours' }),
          compute_jobs: Type.Integer({ description: 'Clip jobs included per month' }),
          processing_jobs: Type.Integer({ description: 'Processing jobs included per month' }),
        },
        { description: 'Limits of the plan' },
      ),
      as_of: Described(Timestamp, 'Time of the measurement'),
    },
    { description: 'Usage of the current month' },
  ),
  example: {
    input: { organization_id: EXAMPLE_IDS.organization },
    output: {
      organization_id: EXAMPLE_IDS.organization,
      plan_id: 'free',
      period: '2026-03',
      ...EXAMPLE_METERS,
      storage_reserved_bytes: 0,
      egress_bytes_last_24h: 734_003_200,
      limits: { storage_bytes: 10_737_418_240, egress_bytes_per_24h: 21_474_836_480, compute_jobs: 10, processing_jobs: 100 },
      as_of: '2026-03-14T09:45:00.000Z',
    },
  },
}).handle({
  async check({ principal }, { organization_id }) {
    return organization_id === undefined
      ? organizations.requireOrganization(principal)
      : organizations.requireNamedOrganization(principal, organization_id)
  },
  async execute({ db, clock }, _input, organizationId) {
    const now = clock.now()
    const usage = await reports.current(db, organizationId, now)
    return {
      organization_id: organizationId,
      plan_id: usage.plan.id,
      period: reports.monthOf(now),
      ...toMeters(usage),
      storage_reserved_bytes: usage.reservedBytes,
      egress_bytes_last_24h: usage.egressBytesOfDay,
      limits: {
        storage_bytes: usage.plan.storageBytes,
        egress_bytes_per_24h: usage.plan.egressBytes,
        compute_jobs: usage.plan.computeJobs,
        processing_jobs: usage.plan.processingJobs,
      },
      as_of: now.toISOString(),
    }
  },
})
