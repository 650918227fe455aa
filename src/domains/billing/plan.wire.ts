import Type from 'typebox'
import { Closed, Nullable } from '#core/shapes.ts'
import { PLANS, type Plan } from '#model/plans/plan.ts'

const Days = Nullable(Type.Integer())

export const PlanRecord = Closed(
  {
    id: Type.String(),
    name: Type.String(),
    monthly_aud: Type.Number({ description: 'Without tax' }),
    storage_bytes: Type.Integer(),
    compute_jobs: Type.Integer({ description: 'Clip jobs in a month' }),
    processing_jobs: Type.Integer({ description: 'Processing jobs of all other kinds in a month' }),
    egress_bytes: Type.Integer({ description: 'In any 24 hours' }),
    retention: Closed({
      expiring_after_days: Days,
      expired_after_days: Days,
      deleted_after_days: Days,
      archived_after_idle_days: Days,
    }),
  },
  { $id: 'Plan' },
)

export function toPlan({ id, name, monthlyAud, storageBytes, computeJobs, processingJobs, egressBytes, retention }: Plan) {
  return {
    id,
    name,
    monthly_aud: monthlyAud,
    storage_bytes: storageBytes,
    compute_jobs: computeJobs,
    processing_jobs: processingJobs,
    egress_bytes: egressBytes,
    retention: {
      expiring_after_days: retention.expiringAfterDays,
      expired_after_days: retention.expiredAfterDays,
      deleted_after_days: retention.deletedAfterDays,
      archived_after_idle_days: retention.archivedAfterIdleDays,
    },
  }
}

/** For the reference. */
export const EXAMPLE_PLANS = PLANS.map(toPlan)
