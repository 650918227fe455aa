import * as deliveries from '#model/events/delivery.ts'
import type { Context } from '#operation.ts'
import { leaseSecondsOf, PER_ENDPOINT } from './limits.ts'
import { finish } from './finish.ts'
import { send } from './send.ts'

const BATCH = 100

interface Drained {
  attempted: number
  delivered: number
  failed: number
}

/** Sends all deliveries that are due, up to a limit, and waits for them. */
export async function drain(context: Pick<Context, 'db' | 'clock' | 'webhooks'>, limit: number): Promise<Drained> {
  const drained = { attempted: 0, delivered: 0, failed: 0 }
  while (drained.attempted < limit) {
    await deliveries.admit(context.db, context.clock.now())
    const claimed = await deliveries.claim(
      context.db,
      {
        total: Math.min(BATCH, limit - drained.attempted),
        perEndpoint: PER_ENDPOINT,
        free: new Map(),
        leaseSeconds: leaseSecondsOf(context.webhooks),
      },
      context.clock.now(),
    )
    if (claimed.length === 0) break
    const outcomes = await Promise.all(claimed.map((delivery) => send(context, delivery)))
    await finish(context, outcomes)
    drained.attempted += outcomes.length
    drained.delivered += outcomes.filter(({ state }) => state === 'delivered').length
  }
  return { ...drained, failed: drained.attempted - drained.delivered }
}
