import type { Static, TSchema } from 'typebox'
import type { Change, TaskContract } from '#effects.ts'
import * as groups from '#model/orders/order-group.ts'
import type { Group } from '#model/orders/order-group.ts'
import { VendorError } from '#ports/vendors.ts'
import type { TaskContext } from '#task.ts'

/** Backoff in seconds before each retry, about a day altogether; after the last retry the group fails. */
const RETRY_SECONDS = [5, 15, 60, 300, 900, 3_600, 3_600, 3_600, 7_200, 7_200, 14_400, 14_400, 28_800]

/** Whether a retry can succeed. */
const isTransient = ({ code }: VendorError): boolean => code === 'unavailable' || code === 'timeout'

interface VendorRequest {
  send(): Promise<void>
  /** Ends the group after a refusal or the last retry. */
  giveUp(change: Change, reason: string): Promise<unknown>
}

/**
 * Sends a request to a vendor in the background, with retries. A lost response does no harm: the retry carries the same
 * reference, and the vendor returns the same result.
 */
export async function retryAtVendor<D extends TSchema>(
  { db, clock, change, tasks }: TaskContext,
  { id, organizationId }: Group,
  contract: TaskContract<D>,
  { send, giveUp }: VendorRequest,
): Promise<void> {
  try {
    await send()
  } catch (error) {
    if (!(error instanceof VendorError)) throw error
    const attempts = isTransient(error) ? await groups.countAttempt(db, id) : Infinity
    const afterSeconds = RETRY_SECONDS[attempts - 1]
    if (afterSeconds === undefined) await change(organizationId, (change) => giveUp(change, error.message))
    else
      await db.transaction().execute(async (tx) => {
        await groups.postpone(tx, id, new Date(clock.now().getTime() + afterSeconds * 1000))
        await tasks(tx).enqueue(contract, { group_id: id } as Static<D>, { afterSeconds })
      })
  }
}
