/**
 * Access tokens of a host: cached in this process, shared with all others, and renewed by one of them before they expire.
 * A token that the host refuses is renewed early, but not one that was issued a moment ago: it would be refused again.
 */
import { hkdfSync, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '#core/clock.ts'
import { createSeal, KEY_BYTES, NO_SEAL, type Seal } from '#core/seal.ts'
import { VendorError } from '#ports/vendors/call.ts'
import type { VendorToken, VendorTokens } from '#ports/vendor-tokens.ts'

interface IssuedToken {
  readonly value: string
  readonly lifetimeMs: number
}

interface AccessTokenOptions {
  readonly hostName: string
  readonly name: string
  readonly tokens: VendorTokens
  readonly clock: Clock
  /** Encrypts the token in the database; null for tokens that anyone can request. */
  readonly secret: string | null
  readonly request: () => Promise<IssuedToken>
}

export interface AccessToken {
  /** A valid token; another one than the refused version, unless that was issued a moment ago. */
  get(refused: string | null): Promise<VendorToken>
  /** How long a token can still be used. */
  validMs(token: VendorToken): number
}

/** A token is renewed this long before it expires, but not in the first half of its life. */
const RENEW_BEFORE_MS = 60_000
/** A refused token of this age is not renewed. */
const MIN_AGE_MS = 10_000
/** The claim of a process that was killed ends after this time. */
const CLAIM_MS = 30_000
/** How long to wait for the process that requests the token, and how often to look. */
const WAIT_MS = 20_000
const LOOK_MS = 100

export function createAccessToken(options: AccessTokenOptions): AccessToken {
  const { hostName, name, tokens, clock, request } = options
  const seal = sealOf(options)
  let current: VendorToken | null = null
  let pending: Promise<VendorToken> | null = null
  const nowMs = () => clock.now().getTime()
  const validMs = ({ obtainedAt, expiresAt }: VendorToken) => {
    const lifetimeMs = expiresAt.getTime() - obtainedAt.getTime()
    return expiresAt.getTime() - Math.min(RENEW_BEFORE_MS, lifetimeMs / 2) - nowMs()
  }
  const isUsable = (token: VendorToken | null, refused: string | null): token is VendorToken =>
    token !== null && validMs(token) > 0 && (token.version !== refused || nowMs() - token.obtainedAt.getTime() < MIN_AGE_MS)

  const shared = async (): Promise<VendorToken | null> => {
    const stored = await tokens.find(hostName, name)
    const value = stored && seal.open(stored.value)
    return stored && value !== null ? { ...stored, value } : null
  }
  const renew = async (refused: string | null): Promise<VendorToken> => {
    try {
      // Another process may have stored one, and ended its claim, since this one looked.
      const stored = await shared()
      if (isUsable(stored, refused)) {
        await tokens.release(hostName, name)
        return stored
      }
      const { value, lifetimeMs } = await request()
      const obtainedAt = clock.now()
      const token = { value, version: randomUUID(), obtainedAt, expiresAt: new Date(obtainedAt.getTime() + lifetimeMs) }
      await tokens.store(hostName, name, { ...token, value: seal.close(value) })
      return token
    } catch (error) {
      await tokens.release(hostName, name)
      throw error
    }
  }
  const obtain = async (refused: string | null): Promise<VendorToken> => {
    const endsAtMs = performance.now() + WAIT_MS
    for (;;) {
      const token = await shared()
      if (isUsable(token, refused)) return token
      if (await tokens.claim(hostName, name, new Date(nowMs() + CLAIM_MS))) return await renew(refused)
      if (performance.now() > endsAtMs) throw new VendorError('timeout', hostName, `${hostName} did not issue an access token in time`)
      await pause(LOOK_MS)
    }
  }
  return {
    validMs,
    async get(refused) {
      if (isUsable(current, refused)) return current
      pending ??= obtain(refused).finally(() => {
        pending = null
      })
      current = await pending
      return current
    },
  }
}

/** Only who has the secret that a token was requested with can decrypt it, and nobody with the database alone. */
function sealOf({ secret, hostName, name }: AccessTokenOptions): Seal {
  if (secret === null) return NO_SEAL
  return createSeal(Buffer.from(hkdfSync('sha256', secret, `${hostName} ${name}`, 'vendor token', KEY_BYTES)))
}
