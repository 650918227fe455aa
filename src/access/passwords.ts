import { availableParallelism } from 'node:os'
import bcrypt from 'bcrypt'
import { limiter } from '#core/limiter.ts'
import { invalidField } from '#core/problem.ts'

/** bcrypt reads no further than this; a longer password would silently be a shorter one. */
const MAX_PASSWORD_BYTES = 72
const MIN_PASSWORD_LENGTH = 10

const STANDARD_COST = 10
/** A queue of comparisons may not starve everything else of the thread pool, nor grow without end. */
const MAX_WAITING = 200

export interface Passwords {
  hash(password: string): Promise<string>
  /** Takes the same time whether or not there is a hash to compare with. */
  matches(password: string, hash: string | null): Promise<boolean>
}

export function requireUsable(password: string): void {
  if (password.length < MIN_PASSWORD_LENGTH) throw invalidField('password', `must have at least ${MIN_PASSWORD_LENGTH} characters`)
  if (Buffer.byteLength(password) > MAX_PASSWORD_BYTES) throw invalidField('password', `must have at most ${MAX_PASSWORD_BYTES} bytes`)
}

interface PasswordOptions {
  cost?: number | undefined
  /** Comparisons at a time. */
  maxRunning?: number
  /** What there are too many of when the queue is full. */
  waiting: string
}

export function createPasswords({
  cost = STANDARD_COST,
  maxRunning = Math.max(1, availableParallelism() - 1),
  waiting,
}: PasswordOptions): Passwords {
  const inTurn = limiter({ maxRunning, maxWaiting: MAX_WAITING, waiting })
  const dummy = bcrypt.hashSync('nobody has this password', cost)
  return {
    hash: (password) => inTurn(() => bcrypt.hash(password, cost)),
    async matches(password, hash) {
      const equal = await inTurn(() => bcrypt.compare(password, hash ?? dummy))
      return equal && hash !== null && Buffer.byteLength(password) <= MAX_PASSWORD_BYTES
    },
  }
}
