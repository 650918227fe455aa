/** The states of orders at Planet's Orders and Tasking APIs, and what they mean to us. */
import type { VendorOrder } from '#ports/vendors/shop.ts'

export const STATES: Readonly<Record<string, VendorOrder['status']>> = {
  queued: 'placed',
  running: 'accepted',
  success: 'delivered',
  partial: 'part',
  failed: 'failed',
  cancelled: 'cancelled',
}

/** Of the Tasking API. `FULFILLED` means that the images exist; then they are ordered like scenes of the archive. */
export const TASKING_STATES: Readonly<Record<string, VendorOrder['status']>> = {
  RECEIVED: 'placed',
  REQUESTED: 'placed',
  PENDING: 'placed',
  IN_PROGRESS: 'accepted',
  FINALIZING: 'accepted',
  PENDING_CANCELLATION: 'accepted',
  FULFILLED: 'delivered',
  REJECTED: 'failed',
  FAILED: 'failed',
  EXPIRED: 'failed',
  CANCELLED: 'cancelled',
}

interface Standing {
  readonly status: VendorOrder['status']
  readonly unknownStatus: string | null
}

/** An unknown state never fails an order. A delivery needs files: links can appear later than the state that announces them. */
export function standingOf(state: string, hasFiles: boolean, states = STATES): Standing {
  const status = Object.hasOwn(states, state) ? states[state]! : null
  if (status === null) return { status: 'accepted', unknownStatus: state.slice(0, 100) }
  const isDelivery = status === 'delivered' || status === 'part'
  return { status: isDelivery && !hasFiles ? 'accepted' : status, unknownStatus: null }
}
