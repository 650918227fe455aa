/** The states of an order at UP42, and what they mean to us. */
import type { VendorOrder } from '#ports/vendors/shop.ts'

export const STATES: Readonly<Record<string, VendorOrder['status']>> = {
  CREATED: 'placed',
  BEING_PLACED: 'placed',
  /** UP42 tries again. */
  PLACEMENT_FAILED: 'placed',
  PLACED: 'accepted',
  BEING_FULFILLED: 'accepted',
  /** These three end by themselves. */
  DELIVERY_INITIALIZATION_FAILED: 'accepted',
  DOWNLOAD_FAILED: 'accepted',
  DOWNLOADED: 'accepted',
  FULFILLED: 'delivered',
  FAILED_PERMANENTLY: 'failed',
  CANCELED: 'cancelled',
}

/** UP42 cancels only what it has not passed on to the producer. */
export const CANCELLABLE: readonly string[] = ['CREATED', 'PLACEMENT_FAILED']

interface Standing {
  readonly status: VendorOrder['status']
  readonly unknownStatus: string | null
}

/** An unknown state never fails an order. */
export function standingOf(state: string): Standing {
  if (Object.hasOwn(STATES, state)) return { status: STATES[state]!, unknownStatus: null }
  return { status: 'accepted', unknownStatus: state.slice(0, 100) }
}
