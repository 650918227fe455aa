/** Tasks that money enqueues; their handlers are in `domains/billing` and `domains/payment_methods`. */
import Type from 'typebox'
import { PeriodName } from '#core/period.ts'
import { Closed, Uuid } from '#core/shapes.ts'
import { taskContract } from '#effects.ts'

/** Without an organization: all that are due. */
export const autoTopupTask = taskContract('billing.auto_topup', Closed({ organization_id: Type.Optional(Uuid) }))

/** Captures or releases the hold of a card reservation that was decided. */
export const settleReservationTask = taskContract('billing.settle_reservation', Closed({ reservation_id: Uuid }))

export const refundCardTask = taskContract(
  'billing.refund_card',
  Closed({ reservation_id: Uuid, credits: Type.Integer({ minimum: 1 }), refunded_before: Type.Integer({ minimum: 0 }) }),
)

/** Without a period: the previous month. */
export const closeMonthsTask = taskContract('billing.close_months', Closed({ period: Type.Optional(PeriodName) }))
export const closeMonthTask = taskContract('billing.close_month', Closed({ organization_id: Uuid, period: PeriodName }))
export const collectInvoiceTask = taskContract('billing.collect_invoice', Closed({ invoice_id: Uuid }))

/** Recalculates the retention dates of an organization's items after a change of plan, from this item on. */
export const applyPlanTask = taskContract(
  'billing.apply_plan',
  Closed({ organization_id: Uuid, project_id: Uuid, seq: Type.Integer(), revive: Type.Boolean() }),
)

export const detachCardTask = taskContract('payment_methods.detach_card', Closed({ processor_id: Type.String() }))
