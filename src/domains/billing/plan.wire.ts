import Type from 'typebox'
import { Closed, Described, Nullable } from '#core/shapes.ts'
import { PLANS, type Plan } from '#model/plans/plan.ts'

const Days = Nullable(Type.Integer())

export const PlanRecord = Closed(
  {
    id: Type.String({ description: 'Plan ID' }),
    name: Type.String({ description: 'Display name of the plan' }),
    monthly_aud: Type.Number({ description: 'Monthly price before tax in Australian dollars' }),
    storage_bytes: Type.Integer({ description: 'Storage included, in bytes' }),
    compute_jobs: Type.Integer({ description: 'Clip jobs included per month' }),
    processing_jobs: Type.Integer({ description: 'Processing jobs included per month' }),
    egress_bytes: Type.Integer({ description: 'Bytes that can be downloaded in any 24 hours' }),
    retention: Closed(
      {
        expiring_after_days: Described(Days, 'Days until active items start to expire; null if never'),
        expired_after_days: Described(Days, 'Days until expiring items can no longer be downloaded; null if never'),
        deleted_after_days: Described(Days, 'Days until expired items are deleted; null if never'),
        archived_after_idle_days: Described(Days, 'Days without access until items are archived; null if never'),
      },
      { description: 'Days after which items change state automatically' },
    ),
  },
  { $id: 'Plan', description: 'A subscription plan' },
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
