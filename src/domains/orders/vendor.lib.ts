import type { Static, TSchema } from 'typebox'
import type { Change, TaskContract } from '#effects.ts'
import * as groups from '#model/orders/order-group.ts'
import type { Group } from '#model/orders/order-group.ts'
import { VendorError } from '#ports/vendors.ts'
import type { TaskContext } from '#task.ts'

/** Seconds before each further try; after the last one the group is given up. About a day in all. */
const RETRY_SECONDS = [5, 15, 60, 300, 900, 3_600, 3_600, 3_600, 7_200, 7_200, 14_400, 14_400, 28_800]

/** Whether a vendor may do later what it did not do now. */
const mayRecover = ({ code }: VendorError): boolean => code === 'unavailable' || code === 'timeout'

interface Attempt {
  ask(): Promise<void>
  /** What becomes of the group when the vendor will not, or has not for too long. */
  giveUp(change: Change, reason: string): Promise<unknown>
}

/**
 * Something that a vendor is asked for in the background. Whether an answer got lost does not matter: what is asked for again
 * carries the same reference, and is answered as before.
 */
export async function tryAtVendor<D extends TSchema>(
  { db, clock, change, tasks }: TaskContext,
  { id, organizationId }: Group,
  contract: TaskContract<D>,
  { ask, giveUp }: Attempt,
): Promise<void> {
  try {
    await ask()
  } catch (error) {
    if (!(error instanceof VendorError)) throw error
    const attempts = mayRecover(error) ? await groups.countAttempt(db, id) : Infinity
    const afterSeconds = RETRY_SECONDS[attempts - 1]
    if (afterSeconds === undefined) await change(organizationId, (made) => giveUp(made, error.message))
    else
      await db.transaction().execute(async (tx) => {
        await groups.postpone(tx, id, new Date(clock.now().getTime() + afterSeconds * 1000))
        await tasks(tx).enqueue(contract, { group_id: id } as Static<D>, { afterSeconds })
      })
  }
}
