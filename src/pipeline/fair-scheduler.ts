/**
 * Shares the event loop fairly between organizations. What a call computes here (reading rows, validating and serializing its
 * response) delays every other call. So an organization that recently used more than its share gets a number of slots: that many
 * of its calls run concurrently, and more wait. The number is large, and shrinks while the loop is late. Other organizations are
 * not affected, and neither is an organization that is alone.
 */
import { callerLeft, problem } from '#core/problem.ts'

/** Time is counted in ticks of the loop itself, so that a slow machine does not look like a busy organization. */
const TICK_MS = 50
/** A call that runs longer is waiting for something that has its own limits, such as a raster; it no longer takes a slot. */
const LONGEST_SLOT_TICKS = 5
/**
 * A call that has a database connection is probably reading a page, which occupies the loop with each part that arrives: if it gave up
 * its slot, a flood would soon read as many pages at once as it gets connections. It may as well wait for a lock, so this ends too.
 */
const LONGEST_QUERYING_TICKS = 40
const MAX_WAITING = 500
const MAX_PAUSE_TICKS = 20
/** A call costs one unit, plus one for this many bytes of its body or response. */
const UNIT_BYTES = 16 * 1024
/** Per tick: past use counts half after five seconds. */
const DECAY = 0.993
const FORGOTTEN = 0.1

interface Slot {
  readonly sinceTick: number
  readonly call: ScheduledCall
}

interface Waiting {
  readonly call: ScheduledCall
  readonly start: (slot: Slot) => void
}

interface Tenant {
  /** Recent use, in units. */
  used: number
  readonly atWork: Set<Slot>
  readonly waiting: Waiting[]
  pausingUntilTick: number
}

interface ScheduledCall {
  readonly bodyBytes?: number
  readonly signal: AbortSignal
  /** Whether it has a database connection now. */
  readonly isQuerying?: () => boolean
}

export interface FairScheduler {
  /** Waits for a slot of the tenant; 429 if too many of its calls are waiting already. */
  run<T>(name: string, call: ScheduledCall, work: () => Promise<T>): Promise<T>
  /** Whether the loop cannot keep up, so that long work should yield to other calls. */
  isLate(): boolean
  close(): void
}

export function createFairScheduler(): FairScheduler {
  const tenants = createTenants()
  const pace = createPace()

  const begin = (tenant: Tenant, call: ScheduledCall): Slot => {
    const slot = { sinceTick: pace.tick(), call }
    tenant.atWork.add(slot)
    return slot
  }
  const mayBegin = (tenant: Tenant): boolean =>
    !tenants.isAboveItsPart(tenant) || (tenant.atWork.size < pace.slots() && pace.tick() >= Math.floor(tenant.pausingUntilTick))
  /** A caller that sends one call after another never waits. */
  const isAtOnce = (tenant: Tenant): boolean => tenant.waiting.length === 0 && (tenant.atWork.size === 0 || mayBegin(tenant))
  const dispatch = (tenant: Tenant): void => {
    while (tenant.waiting.length > 0 && mayBegin(tenant)) {
      const { start, call } = tenant.waiting.shift()!
      start(begin(tenant, call))
    }
  }
  const end = (tenant: Tenant, slot: Slot, units = 0): void => {
    if (!tenant.atWork.delete(slot) || tenant.waiting.length === 0) return
    // Parts of a tick add up: many small calls rest as long as one large.
    const rested = Math.max(tenant.pausingUntilTick, pace.tick()) + pace.pauseAfter(units)
    tenant.pausingUntilTick = Math.min(rested, pace.tick() + MAX_PAUSE_TICKS)
    dispatch(tenant)
  }
  const waitFor = async (tenant: Tenant, call: ScheduledCall): Promise<Slot> => {
    if (tenant.waiting.length >= MAX_WAITING)
      throw problem('rate-limited', 'Too many calls of this organization are waiting; send fewer concurrently', {
        headers: { 'Retry-After': '1' },
      })
    const slot = await new Promise<Slot>((start) => tenant.waiting.push({ call, start }))
    if (!call.signal.aborted) return slot
    end(tenant, slot)
    throw callerLeft()
  }
  const isOverdue = ({ sinceTick, call }: Slot): boolean =>
    pace.tick() - sinceTick > (call.isQuerying?.() ? LONGEST_QUERYING_TICKS : LONGEST_SLOT_TICKS)
  const ticking = setInterval(() => {
    pace.next()
    tenants.decay()
    for (const tenant of tenants.all()) {
      for (const slot of tenant.atWork) if (isOverdue(slot)) end(tenant, slot)
      dispatch(tenant)
    }
  }, TICK_MS).unref()

  return {
    async run(name, call, work) {
      const tenant = tenants.of(name)
      let units = 1 + (call.bodyBytes ?? 0) / UNIT_BYTES
      tenants.use(tenant, units)
      const slot = isAtOnce(tenant) ? begin(tenant, call) : await waitFor(tenant, call)
      try {
        const reply = await work()
        const answered = bytesOf(reply) / UNIT_BYTES
        tenants.use(tenant, answered)
        units += answered
        return reply
      } finally {
        end(tenant, slot, units)
      }
    },
    isLate: pace.isLate,
    close: () => clearInterval(ticking),
  }
}

/** Of a response that is not streamed. */
function bytesOf(reply: unknown): number {
  const body = reply !== null && typeof reply === 'object' && 'body' in reply ? reply.body : null
  return body instanceof Uint8Array ? body.length : 0
}

/** Recent use of the loop by tenant. */
function createTenants() {
  const tenants = new Map<string, Tenant>()
  let total = 0
  return {
    all: () => tenants.values(),
    of(name: string): Tenant {
      const known = tenants.get(name)
      if (known) return known
      const tenant: Tenant = { used: 0, atWork: new Set(), waiting: [], pausingUntilTick: 0 }
      tenants.set(name, tenant)
      return tenant
    },
    use(tenant: Tenant, units: number): void {
      tenant.used += units
      total += units
    },
    isAboveItsPart: ({ used }: Tenant): boolean => tenants.size > 1 && used * tenants.size > total,
    decay(): void {
      total = 0
      for (const [name, tenant] of tenants) {
        tenant.used *= DECAY
        total += tenant.used
        if (tenant.used < FORGOTTEN && tenant.atWork.size === 0 && tenant.waiting.length === 0) tenants.delete(name)
      }
    },
  }
}

const MAX_SLOTS = 16
/** Below one, a pause follows each call. */
const MIN_SLOTS = 0.125
/** A page of a MiB takes the loop for about as long. */
const UNITS_OF_A_TICK = 64
/** By so much a tick comes too late, over the last few. */
const LATE_MS = 4
const SMOOTHING = 0.5
const MORE = 1.03
/** By a tick that is a little late, and by one that is very late. */
const FEWER = 0.75
const FEWEST = 0.25

/** How many slots there are: fewer with each tick that is late, slowly more with each that is not. */
function createPace() {
  let slots = MAX_SLOTS
  let tick = 0
  let lateMs = 0
  let dueMs = performance.now() + TICK_MS
  return {
    slots: () => slots,
    tick: () => tick,
    isLate: () => lateMs > LATE_MS,
    /** In ticks. With half a slot, whoever had one rests as long as it took the loop. */
    pauseAfter: (units: number): number => (slots < 1 ? (units / UNITS_OF_A_TICK) * (1 / slots - 1) : 0),
    next(): void {
      const now = performance.now()
      tick++
      lateMs = lateMs * SMOOTHING + Math.max(0, now - dueMs) * (1 - SMOOTHING)
      dueMs = now + TICK_MS
      const fewer = Math.max(FEWEST, Math.min(FEWER, LATE_MS / lateMs))
      slots = lateMs > LATE_MS ? Math.max(MIN_SLOTS, slots * fewer) : Math.min(MAX_SLOTS, slots * MORE)
    },
  }
}
