import * as orders from '#model/orders/order.ts'
import { pollTask } from '#model/orders/tasks.ts'
import type { Platform } from '#pipeline/platform.ts'

/** A callback claims that an order changed at its vendor. Nothing in it is trusted: it only makes us poll the vendor. */
export async function pollAfterNotice({ db, services: { clock }, tasks }: Platform, groupId: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const orderId = await orders.hint(tx, groupId, clock.now())
    if (orderId) await tasks(tx).enqueue(pollTask, { order_id: orderId })
  })
}
