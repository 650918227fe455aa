import type { Static, TSchema } from 'typebox'
import type { Change, TaskContract } from '#effects.ts'
import * as groups from '#model/orders/order-group.ts'
import type { Group } from '#model/orders/order-group.ts'
import * as accounts from '#model/vendors/account.ts'
import { VendorError } from '#ports/vendors/call.ts'
import type { VendorShop } from '#ports/vendors/shop.ts'
import type { Vendors } from '#ports/vendors/vendors.ts'
import type { TaskContext } from '#task.ts'

/** Backoff in seconds before each retry, about a day altogether; after the last retry the group fails. */
const RETRY_SECONDS = [5, 15, 60, 300, 900, 3_600, 3_600, 3_600, 7_200, 7_200, 14_400, 14_400, 28_800]

/** Whether a retry can succeed: the vendor responds again, or somebody replaces the credentials. */
const isTransient = ({ code }: VendorError): boolean => code === 'unavailable' || code === 'timeout' || code === 'unauthorized'

type Account = Pick<Group, 'hostName' | 'vendorAccountId' | 'isBilledByVendor'>

/** The ordering API for a group, with the account that it was priced with, never with the operator's instead of the organization's. */
export function shopOf(vendors: Vendors, { hostName, vendorAccountId, isBilledByVendor }: Account): VendorShop {
  const shop = vendors.source(hostName) && vendors.shop(hostName, vendorAccountId)
  if (!shop) throw new VendorError('refused', hostName, `'${hostName}' is no longer a source of this installation`)
  if (isBilledByVendor && vendorAccountId === null)
    throw new VendorError('refused', hostName, `The account of the organization at '${hostName}' was disconnected`)
  return shop
}

/** Tells the operator, or the organization whose account it is, that the vendor does not accept the credentials. */
export async function reportRefusal(
  { db, clock, operatorLog }: Pick<TaskContext, 'db' | 'clock' | 'operatorLog'>,
  { vendorAccountId }: Account,
  error: VendorError,
): Promise<void> {
  if (error.code !== 'unauthorized' && error.code !== 'forbidden') return
  if (vendorAccountId === null) operatorLog.warn(error.message)
  else if (error.code === 'unauthorized')
    await accounts.setStatus(db, vendorAccountId, { status: 'refused', detail: error.message }, clock.now())
}

interface VendorRequest {
  send(): Promise<void>
  /** Ends the group after a refusal or the last retry. */
  giveUp(change: Change, reason: string): Promise<unknown>
}

/**
 * Sends a request to a vendor in the background, with retries. A lost response does no harm: the retry looks for the same reference
 * first. It waits as long as the source wants, so that an order that the vendor is still storing is found.
 */
export async function retryAtVendor<D extends TSchema>(
  context: TaskContext,
  group: Group,
  contract: TaskContract<D>,
  { send, giveUp }: VendorRequest,
): Promise<void> {
  const { db, clock, change, tasks, vendors } = context
  const { id, organizationId, hostName } = group
  try {
    await send()
  } catch (error) {
    if (!(error instanceof VendorError)) throw error
    await reportRefusal(context, group, error)
    const attempts = isTransient(error) ? await groups.countAttempt(db, id) : Infinity
    const retrySeconds = RETRY_SECONDS[attempts - 1]
    const afterSeconds = retrySeconds && Math.max(retrySeconds, vendors.source(hostName)?.poll.minSeconds ?? 0)
    if (afterSeconds === undefined) await change(organizationId, (change) => giveUp(change, error.message))
    else
      await db.transaction().execute(async (tx) => {
        await groups.postpone(tx, id, new Date(clock.now().getTime() + afterSeconds * 1000))
        await tasks(tx).enqueue(contract, { group_id: id } as Static<D>, { afterSeconds })
      })
  }
}
