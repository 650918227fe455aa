/** Delivers webhooks while the process runs: claims due deliveries, limits each endpoint, writes outcomes in batches. */
import { createFlusher } from '#core/flusher.ts'
import * as deliveries from '#model/events/delivery.ts'
import type { Context } from '#operation.ts'
import { createCircuits } from './circuit.ts'
import { finish } from './finish.ts'
import { leaseSecondsOf, PER_ENDPOINT } from './limits.ts'
import { send } from './send.ts'

/** Concurrent deliveries of one process, over all endpoints. */
const MAX_IN_FLIGHT = 200
const MAX_PAUSE_MS = 60_000
const FINISH_AFTER_MS = 10
/** Outcomes waiting to be written; beyond this nothing is claimed, because the database is slow or unreachable. */
const MAX_UNWRITTEN = 2_000

interface DelivererOptions extends Pick<Context, 'db' | 'clock' | 'webhooks'> {
  onError: (error: unknown) => void
  /** Called when a delivery ends, so that the next can be claimed. */
  onCapacity: () => void
}

interface Deliverer {
  /** Claims due deliveries and starts sending them. Returns whether more may be due. */
  step(): Promise<boolean>
  /** Waits for deliveries in flight and for their outcomes to be written. */
  close(): Promise<void>
}

export function createDeliverer({ db, clock, webhooks, onError, onCapacity }: DelivererOptions): Deliverer {
  const pauseMs = Math.min(MAX_PAUSE_MS, (webhooks.backoffSeconds[0] ?? 1) * 1_000)
  const circuits = createCircuits({ pauseMs, perEndpoint: PER_ENDPOINT })
  const inFlight = new Map<string, number>()
  const underWay = new Set<Promise<void>>()
  let outcomes: deliveries.Outcome[] = []
  const flusher = createFlusher({
    async drain() {
      const writing = outcomes
      outcomes = []
      await finish({ db, clock }, writing).catch((error: unknown) => {
        outcomes = [...writing, ...outcomes]
        throw error
      })
    },
    isEmpty: () => outcomes.length === 0,
    afterMs: FINISH_AFTER_MS,
    onError,
  })
  const change = (endpoint: string, by: number): void => {
    const count = (inFlight.get(endpoint) ?? 0) + by
    if (count > 0) inFlight.set(endpoint, count)
    else inFlight.delete(endpoint)
  }
  const deliver = async (claimed: deliveries.Claimed): Promise<void> => {
    const { endpointKey } = claimed
    change(endpointKey, 1)
    try {
      const outcome = await send({ db, clock, webhooks }, claimed)
      if (outcome.attempt) circuits.observe(endpointKey, outcome.state === 'delivered', performance.now())
      outcomes.push(outcome)
      flusher.arm()
    } catch (error) {
      onError(error) // Its lease expires, and it is sent again.
    } finally {
      change(endpointKey, -1)
      onCapacity()
    }
  }
  return {
    async step() {
      const capacity = MAX_IN_FLIGHT - underWay.size
      if (capacity <= 0 || outcomes.length > MAX_UNWRITTEN) return false
      await deliveries.admit(db, clock.now())
      const claimed = await deliveries.claim(
        db,
        {
          total: capacity,
          perEndpoint: PER_ENDPOINT,
          free: circuits.free(inFlight, performance.now()),
          leaseSeconds: leaseSecondsOf(webhooks),
        },
        clock.now(),
      )
      for (const delivery of claimed) {
        const sent = deliver(delivery).finally(() => underWay.delete(sent))
        underWay.add(sent)
      }
      return claimed.length > 0
    },
    async close() {
      await Promise.all(underWay)
      await flusher.close()
    },
  }
}
