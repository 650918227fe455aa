import { availableParallelism } from 'node:os'
import bcrypt from 'bcrypt'
import { createLimiter, queueFull } from '#core/limiter.ts'
import { invalidField } from '#core/problem.ts'

/** bcrypt ignores the bytes after this, so a longer password would silently be truncated. */
const MAX_PASSWORD_BYTES = 72
const MIN_PASSWORD_LENGTH = 10

const STANDARD_COST = 10
/** Limits of the queue of comparisons, so that it neither starves the thread pool nor grows without bound. */
const MAX_WAITING = 200

/**
 * Compared where there is no hash, which takes as long: 22 characters of salt and 31 of a hash, drawn at random, so that no password is
 * known for it. To compute one took a twentieth of a second of every start, three times.
 */
const NOBODYS_HASH = 'kP3vS0yq8mJ1cZtWb7RfuOqX2nLwA5hGd9eYiUo4TzKj6sVxBrCpE'

export const nobodysHash = (cost: number): string => `$2b$${String(cost).padStart(2, '0')}$${NOBODYS_HASH}`

/** Rotates between callers by `who`, a client address: a caller with hundreds of passwords only delays itself. */
export interface Passwords {
  hash(password: string, who?: string): Promise<string>
  /** Takes the same time whether or not there is a hash. */
  matches(password: string, hash: string | null, who?: string): Promise<boolean>
}

export function requireUsable(password: string, field = 'password'): void {
  if (password.length < MIN_PASSWORD_LENGTH) throw invalidField(field, `must have at least ${MIN_PASSWORD_LENGTH} characters`)
  if (Buffer.byteLength(password) > MAX_PASSWORD_BYTES) throw invalidField(field, `must have at most ${MAX_PASSWORD_BYTES} bytes`)
}

interface PasswordOptions {
  cost?: number | undefined
  /** Maximum concurrent comparisons. */
  maxRunning?: number
  /** Named in the problem when the queue is full: too many of these. */
  waiting: string
}

export function createPasswords({
  cost = STANDARD_COST,
  maxRunning = Math.max(1, availableParallelism() - 1),
  waiting,
}: PasswordOptions): Passwords {
  const limit = createLimiter({ maxRunning, maxWaiting: MAX_WAITING, full: queueFull(waiting) })
  const dummy = nobodysHash(cost)
  return {
    hash: (password, who = '') => limit(() => bcrypt.hash(password, cost), { tenant: who }),
    async matches(password, hash, who = '') {
      const equal = await limit(() => bcrypt.compare(password, hash ?? dummy), { tenant: who })
      return equal && hash !== null && Buffer.byteLength(password) <= MAX_PASSWORD_BYTES
    },
  }
}
