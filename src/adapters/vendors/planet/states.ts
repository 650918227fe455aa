/** The states of an order at Planet's Orders API, and what they mean to us. */
import type { VendorOrder } from '#ports/vendors.ts'

export const STATES: Readonly<Record<string, VendorOrder['status']>> = {
  queued: 'placed',
  running: 'accepted',
  success: 'delivered',
  partial: 'part',
  failed: 'failed',
  cancelled: 'cancelled',
}

interface Standing {
  readonly status: VendorOrder['status']
  readonly unknownStatus: string | null
}

/** An unknown state never fails an order. A delivery needs files: links can appear later than the state that announces them. */
export function standingOf(state: string, hasFiles: boolean): Standing {
  const status = Object.hasOwn(STATES, state) ? STATES[state]! : null
  if (status === null) return { status: 'accepted', unknownStatus: state.slice(0, 100) }
  const isDelivery = status === 'delivered' || status === 'part'
  return { status: isDelivery && !hasFiles ? 'accepted' : status, unknownStatus: null }
}
