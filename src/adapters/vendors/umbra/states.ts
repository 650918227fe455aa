/** The states of a task at Umbra, and what they mean to us. */
import type { VendorOrder } from '#ports/vendors/shop.ts'

export const STATES: Readonly<Record<string, VendorOrder['status']>> = {
  RECEIVED: 'placed',
  REVIEW: 'placed',
  ACTIVE: 'placed',
  SUBMITTED: 'placed',
  CANCEL_REQUESTED: 'placed',
  ACCEPTED: 'accepted',
  SCHEDULED: 'accepted',
  TASKED: 'accepted',
  TRANSMITTED: 'accepted',
  /** Umbra tries again. */
  INCOMPLETE: 'accepted',
  ANOMALY: 'accepted',
  PROCESSING: 'accepted',
  PROCESSED: 'accepted',
  DELIVERING: 'accepted',
  DELIVERED: 'delivered',
  COMPLETED: 'delivered',
  REJECTED: 'failed',
  EXPIRED: 'failed',
  ERROR: 'failed',
  CANCELED: 'cancelled',
}

/** States in which Umbra accepts a request to cancel. */
export const CANCELLABLE: readonly string[] = ['ACTIVE', 'SUBMITTED', 'ACCEPTED', 'SCHEDULED']
export const CANCELLING: readonly string[] = ['CANCEL_REQUESTED', 'CANCELED']

/** States of a collect that never becomes an image. */
export const FAILED_COLLECTS: readonly string[] = ['FAILED', 'CORRUPT', 'CANCELED']

interface Standing {
  readonly status: VendorOrder['status']
  readonly unknownStatus: string | null
}

/** An unknown state never fails an order. */
export function standingOf(state: string): Standing {
  if (Object.hasOwn(STATES, state)) return { status: STATES[state]!, unknownStatus: null }
  return { status: 'accepted', unknownStatus: state.slice(0, 100) }
}
