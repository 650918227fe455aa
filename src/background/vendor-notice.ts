import * as orders from '#model/orders/order.ts'
import { pollTask } from '#model/orders/tasks.ts'
import type { Platform } from '#pipeline/platform.ts'

/** Somebody says that something happened to an order at its vendor's. Nothing they send is believed: the vendor is asked. */
export async function hintAt({ db, services: { clock }, tasks }: Platform, groupId: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const orderId = await orders.hint(tx, groupId, clock.now())
    if (orderId) await tasks(tx).enqueue(pollTask, { order_id: orderId })
  })
}
