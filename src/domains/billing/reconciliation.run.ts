import Type from 'typebox'
import { notFound } from '#core/problem.ts'
import { Closed, Defaulted, Timestamp, Uuid } from '#core/shapes.ts'
import * as organizations from '#model/identity/organization.ts'
import { reconcile } from '#model/money/reconciliation.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_AT, EXAMPLE_IDS } from '#wire/examples.ts'

const MIB = 1024 * 1024
const Counted = (unit: string) =>
  Closed({ [`recorded_${unit}`]: Type.Integer(), [`counted_${unit}`]: Type.Integer(), [`drift_${unit}`]: Type.Integer() })

/** Operators only: recounts an organization's stored bytes and ledger, and stores the drift from the recorded values. */
export default operation({
  id: 'billing.reconciliation.run',
  scope: 'admin:write',
  tier: 'compute',
  input: Closed({
    organization_id: Uuid,
    threshold_bytes: Defaulted(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), MIB),
  }),
  output: Closed({
    id: Uuid,
    organization_id: Uuid,
    storage: Counted('bytes'),
    available: Counted('credits'),
    reserved: Counted('credits'),
    has_drift: Type.Boolean(),
    created_at: Timestamp,
  }),
  example: {
    input: { organization_id: EXAMPLE_IDS.organization },
    output: {
      id: '0199f2d4-0000-7000-8000-000000000001',
      organization_id: EXAMPLE_IDS.organization,
      has_drift: false,
      created_at: EXAMPLE_AT,
      storage: { recorded_bytes: 1_048_576, counted_bytes: 1_048_576, drift_bytes: 0 },
      available: { recorded_credits: 500, counted_credits: 500, drift_credits: 0 },
      reserved: { recorded_credits: 0, counted_credits: 0, drift_credits: 0 },
    },
  },
}).handle({
  async check({ db }, { organization_id }) {
    if (!(await organizations.exists(db, organization_id))) throw notFound('organization')
  },
  async execute({ tx, clock, attributeTo }, { organization_id, threshold_bytes }) {
    attributeTo(organization_id)
    const { id, storage, available, reserved, hasDrift, at } = await reconcile(tx, organization_id, threshold_bytes, clock.now())
    const toRecord = (unit: string, { recorded, counted }: { recorded: number; counted: number }) => ({
      [`recorded_${unit}`]: recorded,
      [`counted_${unit}`]: counted,
      [`drift_${unit}`]: recorded - counted,
    })
    return {
      id,
      organization_id,
      storage: toRecord('bytes', storage),
      available: toRecord('credits', available),
      reserved: toRecord('credits', reserved),
      has_drift: hasDrift,
      created_at: at.toISOString(),
    }
  },
})
