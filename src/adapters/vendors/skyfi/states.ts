/** The states of an order at SkyFi, and what they mean to us. */
import type { VendorOrder } from '#ports/vendors/shop.ts'

type Meaning = VendorOrder['status'] | 'delivered if there is a file'

export const STATES: Readonly<Record<string, Meaning>> = {
  CREATED: 'placed',
  STARTED: 'placed',
  PAYMENT_FAILED: 'failed',
  PLATFORM_FAILED: 'failed',
  PROVIDER_PENDING: 'accepted',
  PROVIDER_COMPLETE: 'accepted',
  PROVIDER_FAILED: 'failed',
  PROCESSING_PENDING: 'accepted',
  PROCESSING_COMPLETE: 'accepted',
  PROCESSING_FAILED: 'failed',
  INTERNAL_IMAGE_PROCESSING_PENDING: 'accepted',
  DELIVERY_PENDING: 'accepted',
  DELIVERY_COMPLETED: 'delivered',
  /** The delivery to a bucket failed; we fetch the files ourselves. */
  DELIVERY_FAILED: 'delivered if there is a file',
}

interface Standing {
  readonly status: VendorOrder['status']
  readonly unknownStatus: string | null
}

/** An unknown state never fails an order. A file can appear later than the state that announces it. */
export function standingOf(state: string, hasFile: boolean): Standing {
  const meaning = Object.hasOwn(STATES, state) ? STATES[state]! : null
  if (meaning === null) return { status: 'accepted', unknownStatus: state.slice(0, 100) }
  if (meaning === 'delivered if there is a file') return { status: hasFile ? 'delivered' : 'failed', unknownStatus: null }
  return { status: meaning === 'delivered' && !hasFile ? 'accepted' : meaning, unknownStatus: null }
}
