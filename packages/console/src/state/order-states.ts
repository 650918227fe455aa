/** The status of orders and of their groups, in words. */
import type { Order, OrderGroup } from '../api/contract.ts'
import type { Tone } from '../ui/kit.ts'
import { useOp } from '../api/query.ts'

interface StatusText {
  text: string
  tone: Tone
}

const ORDER: Readonly<Record<Order['status'], StatusText>> = {
  pending: { text: 'Awaiting decision', tone: 'warn' },
  processing: { text: 'Placed', tone: 'info' },
  awaiting_data: { text: 'Delivering', tone: 'info' },
  fulfilled: { text: 'Delivered', tone: 'ok' },
  failed: { text: 'Failed', tone: 'bad' },
  cancelled: { text: 'Cancelled', tone: '' },
}
const DECIDING: Readonly<Record<string, StatusText>> = {
  awaiting_feasibility: { text: 'Feasibility study', tone: 'info' },
  feasibility_ready: { text: 'Decision needed', tone: 'warn' },
  awaiting_quotation: { text: 'Quotation requested', tone: 'info' },
  quotation_ready: { text: 'Decision needed', tone: 'warn' },
}
const GROUP: Readonly<Record<OrderGroup['status'], StatusText>> = {
  deciding: { text: 'awaiting decision', tone: 'warn' },
  waiting: { text: 'queued', tone: 'info' },
  placed: { text: 'placed with vendor', tone: 'info' },
  accepted: { text: 'accepted by vendor', tone: 'info' },
  delivering: { text: 'delivering', tone: 'info' },
  delivered: { text: 'delivered', tone: 'ok' },
  part: { text: 'partly delivered', tone: 'warn' },
  failed: { text: 'failed', tone: 'bad' },
  cancelled: { text: 'cancelled', tone: '' },
}

export const orderStatus = ({ status, subStatus }: Pick<Order, 'status' | 'subStatus'>): StatusText =>
  (status === 'pending' && subStatus ? DECIDING[subStatus] : undefined) ?? ORDER[status]
export const groupStatus = ({ status, subStatus }: Pick<OrderGroup, 'status' | 'subStatus'>): StatusText =>
  (status === 'deciding' && subStatus ? DECIDING[subStatus] : undefined) ?? GROUP[status]

export const isOver = ({ status }: Pick<Order, 'status'>) => ['fulfilled', 'failed', 'cancelled'].includes(status)
/** Until a vendor has accepted it; the vendor can still refuse. */
export const isCancellable = ({ status }: Pick<Order, 'status'>) => ['pending', 'processing'].includes(status)
export const waitsForDecision = ({ status, subStatus }: Pick<Order, 'status' | 'subStatus'>) =>
  status === 'pending' && (subStatus === 'feasibility_ready' || subStatus === 'quotation_ready')

const POLL_MS = 5_000

export const useOrder = (id: string) =>
  useOp('orders.get', { id }, { staleTime: 0, refetchInterval: POLL_MS, while: (order) => !isOver(order) })
