/** Words for the states of orders and of their groups. */
import type { Order, OrderGroup } from '../api/contract.ts'
import type { Tone } from '../ui/kit.ts'
import { useOp } from '../api/query.ts'

interface Said {
  text: string
  tone: Tone
}

const ORDER: Readonly<Record<Order['status'], Said>> = {
  pending: { text: 'To be agreed', tone: 'warn' },
  processing: { text: 'Placed', tone: 'info' },
  awaiting_data: { text: 'Data arriving', tone: 'info' },
  fulfilled: { text: 'Delivered', tone: 'ok' },
  failed: { text: 'Failed', tone: 'bad' },
  cancelled: { text: 'Cancelled', tone: '' },
}
const AGREEING: Readonly<Record<string, Said>> = {
  awaiting_feasibility: { text: 'Being studied', tone: 'info' },
  feasibility_ready: { text: 'Decision needed', tone: 'warn' },
  awaiting_quotation: { text: 'Being quoted', tone: 'info' },
  quotation_ready: { text: 'Decision needed', tone: 'warn' },
}
const GROUP: Readonly<Record<OrderGroup['status'], Said>> = {
  deciding: { text: 'to be agreed', tone: 'warn' },
  waiting: { text: 'about to be sent', tone: 'info' },
  placed: { text: 'placed with the vendor', tone: 'info' },
  accepted: { text: 'taken on by the vendor', tone: 'info' },
  delivering: { text: 'arriving', tone: 'info' },
  delivered: { text: 'delivered', tone: 'ok' },
  part: { text: 'delivered in part', tone: 'warn' },
  failed: { text: 'failed', tone: 'bad' },
  cancelled: { text: 'cancelled', tone: '' },
}

export const saidOf = ({ status, subStatus }: Pick<Order, 'status' | 'subStatus'>): Said =>
  (status === 'pending' && subStatus ? AGREEING[subStatus] : undefined) ?? ORDER[status]
export const saidOfGroup = ({ status, subStatus }: Pick<OrderGroup, 'status' | 'subStatus'>): Said =>
  (status === 'deciding' && subStatus ? AGREEING[subStatus] : undefined) ?? GROUP[status]

export const isOver = ({ status }: Pick<Order, 'status'>) => ['fulfilled', 'failed', 'cancelled'].includes(status)
/** Until a vendor has taken it on; the vendor has the last word. */
export const isCancellable = ({ status }: Pick<Order, 'status'>) => ['pending', 'processing'].includes(status)
export const waitsForDecision = ({ status, subStatus }: Pick<Order, 'status' | 'subStatus'>) =>
  status === 'pending' && (subStatus === 'feasibility_ready' || subStatus === 'quotation_ready')

const LOOK_EVERY_MS = 5_000

export const useOrder = (id: string) =>
  useOp('orders.get', { id }, { staleTime: 0, refetchInterval: LOOK_EVERY_MS, while: (order) => !isOver(order) })
