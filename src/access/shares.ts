/** Opens share links, on every call anew, with a token and a password or with a grant. */
import { createHmac, randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { batcher } from '#core/batcher.ts'
import type { Clock } from '#core/clock.ts'
import { createLimiter, queueFull } from '#core/limiter.ts'
import { notFound, problem, type Problem } from '#core/problem.ts'
import { GRANT_PREFIX, readGrant, signGrant, type GrantScope } from '#core/share-grant.ts'
import type { Db } from '#db/tables.ts'
import * as rateWindows from '#model/platform/rate-window.ts'
import * as shareLinks from '#model/sharing/share-link.ts'
import { secretOf } from '#model/platform/secret.ts'
import type { Attempts, OpenedShare, Shares } from '#context.ts'
import type { Passwords } from './passwords.ts'

export const ATTEMPTS_PER_WINDOW = 10
const ATTEMPT_WINDOW_SECONDS = 60
/** How long a correct password is cached. */
const VERIFIED_SECONDS = 60
const MAX_VERIFIED = 10_000
/** Database connections for visitors: a crowd at one link delays only itself. */
const MAX_READING = 4
const MAX_WAITING = 2_000
const BATCH = { maxKeys: 200, maxInFlight: 1 }

export function createShares(db: Db, clock: Clock, passwords: Passwords): Shares {
  const lookUp = batcher((hashes: readonly Buffer[]) => shareLinks.byTokens(db, hashes), BATCH)
  const lookUpById = batcher((ids: readonly string[]) => shareLinks.byIds(db, ids), BATCH)
  const countOpening = batcher(async (ids: readonly string[]) => {
    await shareLinks.countOpenings(db, ids, clock.now())
    return ids
  }, BATCH)
  const checker = createChecker(clock, passwords)
  let secret: Promise<Buffer> | null = null
  const grantSecret = () =>
    (secret ??= secretOf(db, 'share-grants', clock.now()).catch((error: unknown) => {
      secret = null
      throw error
    }))

  const byPassword = async (token: string, password: string, counted: Attempts): Promise<shareLinks.Known> => {
    const tokenHash = shareLinks.hashToken(token)
    const { known, attempts } = await lookUp(tokenHash)
    const now = clock.now()
    if (known && isOpenToAll(known, now)) return known // There is nothing to guess.
    if (attempts && isOpen(attempts.startedAt, now) && attempts.used >= ATTEMPTS_PER_WINDOW) throw tooMany(attempts.startedAt, now)
    const usable = known && isUsable(known, now) ? known : null
    const count = () => countAttempt(db, tokenHash, clock)
    const forgive = () => rateWindows.forgive(db, shareLinks.attemptsOn(tokenHash))
    if (counted === 'all') await count()
    const right = await checker.check(
      { tokenHash, password, hash: usable?.passwordHash ?? null },
      counted === 'all' ? UNCOUNTED : { count, forgive },
    )
    if (!right) throw refused()
    return usable!
  }

  const byGrant = async (read: NonNullable<ReturnType<typeof readGrant>>): Promise<shareLinks.Known> => {
    const known = await lookUpById(read.grant.linkId)
    const now = clock.now()
    if (
      !known ||
      !read.holds(await grantSecret(), known.passwordHash) ||
      read.grant.expiresAtSeconds * 1000 <= now.getTime() ||
      !isUsable(known, now)
    )
      throw refused()
    return known
  }

  const nowSeconds = () => Math.floor(clock.now().getTime() / 1000)
  const secondsLeft = (endSeconds: number | undefined) => (endSeconds === undefined ? Infinity : endSeconds - nowSeconds())
  const sign = async ({ link, passwordHash }: shareLinks.Known, scope: GrantScope, lifetimeSeconds: number) => {
    const expiresAtSeconds = expiryOf(link, scope, nowSeconds() + lifetimeSeconds)
    const grant = signGrant(await grantSecret(), { linkId: link.id, expiresAtSeconds, scope }, passwordHash)
    return { grant, expiresAt: new Date(expiresAtSeconds * 1000) }
  }

  return {
    limit: createLimiter({ maxRunning: MAX_READING, maxWaiting: MAX_WAITING, full: queueFull('visitors of share links') }),
    hashPassword: (password) => passwords.hash(password),
    isPublic: async (token) => isOpenToAll((await lookUp(shareLinks.hashToken(token))).known, clock.now()),
    async open(token, password, counted = 'failed') {
      const read = readGrant(token)
      if (!read && token.startsWith(GRANT_PREFIX)) throw refused() // A signature cannot be guessed, so this is not an attempt on a link.
      const known = read ? await byGrant(read) : await byPassword(token, password, counted)
      if (!known.isTargetLive) throw notFound(known.link.targetType)
      const scope: GrantScope = read ? read.grant.scope : { kind: 'link' }
      return {
        link: known.link,
        scope,
        // A grant made from a grant expires no later than it, so that a chain of grants ends.
        sign: (wanted, lifetimeSeconds) => sign(known, wanted, Math.min(lifetimeSeconds, secondsLeft(read?.grant.expiresAtSeconds))),
        count: async () => void (await countOpening(known.link.id)),
      } satisfies OpenedShare
    },
  }
}

function isUsable({ link, isAllowed }: shareLinks.Known, now: Date): boolean {
  return isAllowed && link.revokedAt === null && link.expiresAt.getTime() > now.getTime()
}

/** Whether whoever has the link may see its target. */
const isOpenToAll = (known: shareLinks.Known | null, now: Date): boolean => known !== null && known.link.isPublic && isUsable(known, now)

/** All visitors of a public link have the same grant, so that caches can share what its URLs return. */
function expiryOf(link: shareLinks.ShareLink, scope: GrantScope, wantedSeconds: number): number {
  const lastSecond = Math.floor(link.expiresAt.getTime() / 1000)
  return link.isPublic && scope.kind !== 'asset' ? lastSecond : Math.min(wantedSeconds, lastSecond)
}

const isOpen = (startedAt: Date, now: Date) => startedAt.getTime() > now.getTime() - ATTEMPT_WINDOW_SECONDS * 1000

/** Counted before the comparison, so that concurrent guesses cannot outrun the count. */
async function countAttempt(db: Db, tokenHash: Buffer, clock: Clock): Promise<void> {
  const now = clock.now()
  const [counted] = await rateWindows.countAll(
    db,
    [{ subject: shareLinks.attemptsOn(tokenHash), windowSeconds: ATTEMPT_WINDOW_SECONDS }],
    now,
  )
  if (counted!.ordinal > ATTEMPTS_PER_WINDOW) throw tooMany(counted!.startedAt, now)
}

function tooMany(startedAt: Date, now: Date): Problem {
  const waitSeconds = Math.max(1, Math.ceil((startedAt.getTime() - now.getTime()) / 1000) + ATTEMPT_WINDOW_SECONDS)
  return problem('too-many-attempts', `Too many attempts on this link; try again in ${waitSeconds} seconds`, {
    headers: { 'Retry-After': String(waitSeconds) },
  })
}

/** One text for every failure, so that an unknown link, an expired link and a wrong password look alike. */
function refused(): Problem {
  return problem('unauthorized', 'The link is no longer valid, or the password is wrong', { headers: { 'WWW-Authenticate': 'Bearer' } })
}

interface Counting {
  count(): Promise<void>
  /** Takes back a counted attempt that was not a failure. */
  forgive(): Promise<void>
}

/** For an attempt that is already counted, whatever its result. */
const UNCOUNTED: Counting = { count: async () => {}, forgive: async () => {} }

interface Guess {
  tokenHash: Buffer
  password: string
  /** Null if there is no such link: the comparison is made nevertheless. */
  hash: string | null
}

/**
 * Compares passwords as rarely as possible. A correct one is cached as a digest under a key of this process, and concurrent
 * visitors with the same password share one comparison.
 */
function createChecker(clock: Clock, passwords: Passwords) {
  const key = randomBytes(32)
  const verified = new LRUCache<string, number>({ max: MAX_VERIFIED })
  const underWay = new Map<string, Promise<boolean>>()
  const digestOf = ({ tokenHash, password, hash }: Guess) =>
    createHmac('sha256', key)
      .update(tokenHash)
      .update(`${hash?.length ?? 0}:${hash ?? ''}`)
      .update(password)
      .digest('base64')

  const compare = async (digest: string, { password, hash }: Guess): Promise<boolean> => {
    const right = await passwords.matches(password, hash)
    if (!right) return false
    verified.set(digest, clock.now().getTime() + VERIFIED_SECONDS * 1000)
    return true
  }

  return {
    async check(guess: Guess, { count, forgive }: Counting): Promise<boolean> {
      const digest = digestOf(guess)
      if ((verified.get(digest) ?? 0) > clock.now().getTime()) return true
      verified.delete(digest)
      const first = underWay.get(digest)
      if (first) {
        if (await first) return true
        await count() // A concurrent identical wrong guess is an attempt too.
        return false
      }
      const mine = (async () => {
        await count()
        let wrong = false
        try {
          const right = await compare(digest, guess)
          wrong = !right
          return right
        } finally {
          if (!wrong) await forgive() // Correct, or not compared because the queue was full.
        }
      })().finally(() => underWay.delete(digest))
      underWay.set(digest, mine)
      return await mine
    },
  }
}
