/**
 * The states of an order and its groups, as data: every state change is one of these moves, made by one conditional UPDATE. A test
 * tries all of them. An order's end follows from its groups: see `settlement.ts`.
 */
import type { EventType } from '#core/event-types.ts'
import type { OrderGroupStatus, OrderStatus, OrderSubStatus, OrderType } from '#core/vocabulary.ts'

interface Move<S extends string> {
  readonly from: readonly S[]
  readonly to: S
}

interface OrderMove extends Move<OrderStatus> {
  readonly of: readonly OrderType[]
  readonly event: EventType
}

export const ORDER_MOVES = {
  /** Everything is agreed and funded. */
  decide: { of: ['tasking'], from: ['pending'], to: 'processing', event: 'order.placed' },
  /** A vendor has accepted it; it can no longer be cancelled. */
  accept: { of: ['archive', 'tasking'], from: ['processing'], to: 'awaiting_data', event: 'order.being_fulfilled' },
  fulfil: { of: ['archive', 'tasking'], from: ['awaiting_data'], to: 'fulfilled', event: 'order.fulfilled' },
  fail: { of: ['archive', 'tasking'], from: ['processing', 'awaiting_data'], to: 'failed', event: 'order.failed' },
  cancel: { of: ['archive', 'tasking'], from: ['pending', 'processing'], to: 'cancelled', event: 'order.cancelled' },
} as const satisfies Record<string, OrderMove>

export const FIRST_STATUS = { archive: 'processing', tasking: 'pending' } as const satisfies Record<OrderType, OrderStatus>
export const OPEN_STATUSES = ['pending', 'processing', 'awaiting_data'] as const satisfies readonly OrderStatus[]

export const GROUP_MOVES = {
  decide: { from: ['deciding'], to: 'waiting' },
  place: { from: ['waiting'], to: 'placed' },
  accept: { from: ['placed'], to: 'accepted' },
  /** The vendor's data is complete and is being fetched. */
  fetch: { from: ['placed', 'accepted'], to: 'delivering' },
  deliver: { from: ['delivering'], to: 'delivered' },
  deliverPart: { from: ['delivering'], to: 'part' },
  fail: { from: ['waiting', 'placed', 'accepted', 'delivering'], to: 'failed' },
  cancel: { from: ['deciding', 'waiting', 'placed'], to: 'cancelled' },
} as const satisfies Record<string, Move<OrderGroupStatus>>

export type GroupMove = keyof typeof GROUP_MOVES

export const DELIVERED_STATUSES = ['delivered', 'part'] as const satisfies readonly OrderGroupStatus[]
export const ENDED_STATUSES = [...DELIVERED_STATUSES, 'failed', 'cancelled'] as const satisfies readonly OrderGroupStatus[]

/** How customer and vendor agree on a tasking group. */
export const SUB_MOVES = {
  answer: { from: ['awaiting_feasibility'], to: 'feasibility_ready' },
  askQuotation: { from: ['feasibility_ready'], to: 'awaiting_quotation' },
  quote: { from: ['awaiting_quotation'], to: 'quotation_ready' },
  accept: { from: ['feasibility_ready', 'quotation_ready'], to: 'accepted' },
  reject: { from: ['awaiting_feasibility', 'feasibility_ready', 'awaiting_quotation', 'quotation_ready'], to: 'rejected' },
} as const satisfies Record<string, Move<OrderSubStatus>>

export type SubMove = keyof typeof SUB_MOVES

/** The order has the sub-status of its least advanced group; rejected groups do not count. */
const AGREEMENT: readonly OrderSubStatus[] = [
  'awaiting_feasibility',
  'feasibility_ready',
  'awaiting_quotation',
  'quotation_ready',
  'accepted',
]

export function subStatusOf(groups: readonly { subStatus: OrderSubStatus | null }[]): OrderSubStatus | null {
  if (groups.every(({ subStatus }) => subStatus === null)) return null
  const open = groups.flatMap(({ subStatus }) => (subStatus && subStatus !== 'rejected' ? [AGREEMENT.indexOf(subStatus)] : []))
  return open.length === 0 ? 'rejected' : AGREEMENT[Math.min(...open)]!
}
