/** The status codes of an order in STAPI, and what they mean to us. `cancelled` is the provider's: it could not collect. */
import type { VendorOrder } from '#ports/vendors/shop.ts'

export const STATES: Readonly<Record<string, VendorOrder['status']>> = {
  received: 'placed',
  held: 'placed',
  reserved: 'placed',
  accepted: 'accepted',
  scheduled: 'accepted',
  tasked: 'accepted',
  processing: 'accepted',
  completed: 'delivered',
  rejected: 'failed',
  failed: 'failed',
  expired: 'failed',
  cancelled: 'failed',
  user_cancelled: 'cancelled',
}

interface Standing {
  readonly status: VendorOrder['status']
  readonly unknownStatus: string | null
}

/** An unknown code never fails an order. Files can appear later than the code that announces them. */
export function standingOf(code: string, hasFile: boolean): Standing {
  const status = Object.hasOwn(STATES, code) ? STATES[code]! : null
  if (status === null) return { status: 'accepted', unknownStatus: code.slice(0, 100) }
  return { status: status === 'delivered' && !hasFile ? 'accepted' : status, unknownStatus: null }
}
