/**
 * The event loop, shared out. What a call computes here (reading rows, checking and writing its answer) keeps everybody else
 * waiting. So an organization that lately used more than its part has a number of turns: as many of its calls are at work at
 * once, and more wait. It is a large number, and becomes a small one while the loop is late. All others go on as before, and so
 * does everybody where there is only one.
 */
import { callerLeft, problem } from '#core/problem.ts'
import type { Reply } from './reply.ts'

const SAMPLE_MS = 50
/** A call at work for so long waits for something that has limits of its own, a raster or a lock: it takes no turn any more. */
const LONGEST_TURN_MS = 250
const MAX_WAITING = 500
/** A call costs one unit, and so do as many bytes of its body or its answer. */
const UNIT_BYTES = 16 * 1024
/** With each sample: what was used counts half after five seconds. */
const DECAY = 0.993
const FORGOTTEN = 0.1

interface Turn {
  readonly sinceMs: number
}

interface Tenant {
  /** Lately, in units. */
  used: number
  readonly atWork: Set<Turn>
  readonly waiting: ((turn: Turn) => void)[]
  pausingUntilMs: number
}

interface TurnCall {
  readonly bodyBytes?: number
  readonly signal: AbortSignal
}

export interface Turns {
  /** Waits for the tenant's turn; 429 where too many of its calls wait already. */
  run(name: string, call: TurnCall, work: () => Promise<Reply>): Promise<Reply>
  close(): void
}

export function createTurns(): Turns {
  const tenants = createTenants()
  const pace = createPace()

  const begin = (tenant: Tenant): Turn => {
    const turn = { sinceMs: performance.now() }
    tenant.atWork.add(turn)
    return turn
  }
  const mayBegin = (tenant: Tenant): boolean =>
    !tenants.isAboveItsPart(tenant) || (tenant.atWork.size < pace.turns() && performance.now() >= tenant.pausingUntilMs)
  const dispatch = (tenant: Tenant): void => {
    while (tenant.waiting.length > 0 && mayBegin(tenant)) tenant.waiting.shift()!(begin(tenant))
  }
  const end = (tenant: Tenant, turn: Turn): void => {
    if (!tenant.atWork.delete(turn) || tenant.waiting.length === 0) return
    tenant.pausingUntilMs = performance.now() + pace.pauseAfter(performance.now() - turn.sinceMs)
    dispatch(tenant)
  }
  const turnOf = async (tenant: Tenant, call: TurnCall): Promise<Turn> => {
    // Whoever makes one call after the other never waits.
    if (tenant.waiting.length === 0 && (tenant.atWork.size === 0 || mayBegin(tenant))) return begin(tenant)
    if (tenant.waiting.length >= MAX_WAITING)
      throw problem('rate-limited', 'Too many calls of this organization are waiting; send fewer at once', {
        headers: { 'Retry-After': '1' },
      })
    const turn = await new Promise<Turn>((resolve) => tenant.waiting.push(resolve))
    if (!call.signal.aborted) return turn
    end(tenant, turn)
    throw callerLeft()
  }
  const sampling = setInterval(() => {
    pace.sample()
    tenants.decay()
    const oldestMs = performance.now() - LONGEST_TURN_MS
    for (const tenant of tenants.all()) {
      for (const turn of tenant.atWork) if (turn.sinceMs < oldestMs) end(tenant, turn)
      dispatch(tenant)
    }
  }, SAMPLE_MS).unref()

  return {
    async run(name, call, work) {
      const tenant = tenants.of(name)
      tenants.use(tenant, 1 + (call.bodyBytes ?? 0) / UNIT_BYTES)
      const turn = await turnOf(tenant, call)
      try {
        const reply = await work()
        if (reply.body instanceof Uint8Array) tenants.use(tenant, reply.body.length / UNIT_BYTES)
        return reply
      } finally {
        end(tenant, turn)
      }
    },
    close: () => clearInterval(sampling),
  }
}

/** Who has used the loop lately, and how much. */
function createTenants() {
  const tenants = new Map<string, Tenant>()
  let total = 0
  return {
    all: () => tenants.values(),
    of(name: string): Tenant {
      const known = tenants.get(name)
      if (known) return known
      const made: Tenant = { used: 0, atWork: new Set(), waiting: [], pausingUntilMs: 0 }
      tenants.set(name, made)
      return made
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

const MAX_TURNS = 16
/** Below one, a pause follows each call. */
const MIN_TURNS = 0.25
/** Of a call, for the pause after it: a longer one was waiting itself. */
const MAX_COUNTED_MS = 100
/** By so much a timer comes too late, over the last few samples. */
const LATE_MS = 4
const SMOOTHING = 0.5
const MORE = 1.03
/** By a sample that is a little late, and by one that is very late. */
const FEWER = 0.75
const FEWEST = 0.25

/** How many turns there are: fewer with each sample that finds the loop late, slowly more with each that does not. */
function createPace() {
  let turns = MAX_TURNS
  let lateMs = 0
  let dueMs = performance.now() + SAMPLE_MS
  return {
    turns: () => turns,
    /** With half a turn, whoever had one rests as long as it took. */
    pauseAfter: (tookMs: number): number => (turns < 1 ? Math.min(tookMs, MAX_COUNTED_MS) * (1 / turns - 1) : 0),
    sample(): void {
      const now = performance.now()
      lateMs = lateMs * SMOOTHING + Math.max(0, now - dueMs) * (1 - SMOOTHING)
      dueMs = now + SAMPLE_MS
      const fewer = Math.max(FEWEST, Math.min(FEWER, LATE_MS / lateMs))
      turns = lateMs > LATE_MS ? Math.max(MIN_TURNS, turns * fewer) : Math.min(MAX_TURNS, turns * MORE)
    },
  }
}
