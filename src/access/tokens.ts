/** Signed tokens: one algorithm, our own keys, our own issuer; any other token is rejected. */
import { createHmac, hkdfSync } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { HOUR_MS } from '#core/time.ts'
import { createLocalJWKSet, importJWK, jwtVerify, SignJWT, type JWTPayload } from 'jose'
import type { Clock } from '#core/clock.ts'
import { isUuid, newId } from '#core/ids.ts'
import type { Db } from '#db/tables.ts'
import * as signingKeys from '#model/identity/signing-key.ts'

export const ACCESS_TOKEN_SECONDS = 900
/** A worker can still report shortly after the timeout of its job. */
const WORKER_GRACE_SECONDS = 600

const ISSUER = 'svc'
const AUDIENCE = 'svc-api'
/** Another process may have created a key since: reload, but not for every forged token. */
const RELOAD_AFTER_MS = 5_000
/** A long-running process must load new keys, and stop signing with one that is about to expire. */
const REFRESH_AFTER_MS = HOUR_MS
const MAX_CACHED_TOKENS = 10_000
/** Tolerance between the clocks of two machines; a token from further in the future is forged. */
const CLOCK_SKEW_SECONDS = 60

type Claims =
  | { typ: 'session'; userId: string; sessionId: string; organizationId: string | null }
  | { typ: 'worker'; jobId: string; organizationId: string }
  | { typ: 'service'; onBehalfOf: string | null; organizationId: string | null }

export interface Tokens {
  sign(claims: Claims, lifetimeSeconds: number): Promise<string>
  /** Null unless it is one of our tokens and valid now. */
  verify(token: string): Promise<Claims | null>
  jwks(): Promise<{ keys: object[] }>
  /** The ID of the key that signs now. */
  newestKey(): Promise<string>
  /** HMAC of a text, by a secret that is derived from this signing key; null if the key was removed. */
  mac(keyId: string, text: string): Promise<Buffer | null>
}

export function signWorkerToken(tokens: Tokens, job: { id: string; organizationId: string; timeoutSeconds: number }): Promise<string> {
  return tokens.sign({ typ: 'worker', jobId: job.id, organizationId: job.organizationId }, job.timeoutSeconds + WORKER_GRACE_SECONDS)
}

export function createTokens(db: Db, clock: Clock): Tokens {
  let loaded: Promise<Loaded> | null = null
  let loadedAtMs = 0
  let loadedAt = 0
  const load = () => {
    loadedAtMs = performance.now()
    loadedAt = clock.now().getTime()
    return (loaded = loadKeys(db, clock).catch((error: unknown) => {
      loaded = null
      throw error
    }))
  }
  const keys = () => (loaded && clock.now().getTime() - loadedAt < REFRESH_AFTER_MS ? loaded : load())
  /** A signature is verified once per token; what can change between two uses is checked elsewhere, every time. */
  const verified = new LRUCache<string, { claims: Claims; expiresAtMs: number }>({ max: MAX_CACHED_TOKENS })

  const verifyFresh = async (token: string, mayReload: boolean): Promise<JWTPayload | null> => {
    const { verifier } = await keys()
    try {
      const { payload } = await jwtVerify(token, verifier, {
        algorithms: [signingKeys.ALGORITHM],
        issuer: ISSUER,
        audience: AUDIENCE,
        currentDate: clock.now(),
        requiredClaims: ['exp', 'iat', 'jti', 'typ'],
      })
      return payload.iat! <= clock.now().getTime() / 1000 + CLOCK_SKEW_SECONDS ? payload : null
    } catch (error) {
      if (
        !mayReload ||
        (error as { code?: string }).code !== 'ERR_JWKS_NO_MATCHING_KEY' ||
        performance.now() - loadedAtMs < RELOAD_AFTER_MS
      )
        return null
      await load()
      return await verifyFresh(token, false)
    }
  }

  const reloaded = () => (performance.now() - loadedAtMs < RELOAD_AFTER_MS ? null : load())

  return {
    newestKey: async () => (await keys()).kid,
    async mac(keyId, text) {
      const key = (await keys()).macKeys.get(keyId) ?? (await reloaded())?.macKeys.get(keyId)
      return key ? createHmac('sha256', key).update(text).digest() : null
    },
    async sign(claims, lifetimeSeconds) {
      const { signer, kid } = await keys()
      const issuedAt = Math.floor(clock.now().getTime() / 1000)
      return await new SignJWT(toPayload(claims))
        .setProtectedHeader({ alg: signingKeys.ALGORITHM, kid, typ: 'JWT' })
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + lifetimeSeconds)
        .setJti(newId())
        .sign(signer)
    },
    async verify(token) {
      const known = verified.get(token)
      if (known) return known.expiresAtMs > clock.now().getTime() ? known.claims : null
      const payload = await verifyFresh(token, true)
      const claims = payload && fromPayload(payload)
      if (!claims) return null
      verified.set(token, { claims, expiresAtMs: payload.exp! * 1000 })
      return claims
    },
    async jwks() {
      return { keys: (await keys()).publicKeys }
    },
  }
}

interface Loaded {
  kid: string
  signer: Awaited<ReturnType<typeof importJWK>>
  verifier: ReturnType<typeof createLocalJWKSet>
  publicKeys: object[]
  macKeys: ReadonlyMap<string, Buffer>
}

async function loadKeys(db: Db, clock: Clock): Promise<Loaded> {
  const keys = await signingKeys.list(db, clock.now())
  const newest = keys[0]!
  const publicKeys = keys.map((key) => key.publicJwk)
  return {
    kid: newest.kid,
    signer: await importJWK(newest.privateJwk, signingKeys.ALGORITHM),
    verifier: createLocalJWKSet({ keys: publicKeys }),
    publicKeys,
    macKeys: new Map(keys.map(({ kid, privateJwk }) => [kid, macKeyFrom(privateJwk.d!)])),
  }
}

const MAC_KEY_BYTES = 32

/** A key of its own, so that nothing about the signing key can be learnt from it. */
const macKeyFrom = (secret: string): Buffer =>
  Buffer.from(hkdfSync('sha256', Buffer.from(secret, 'base64url'), '', 'groundtrack tile signatures', MAC_KEY_BYTES))

function toPayload(claims: Claims): JWTPayload {
  if (claims.typ === 'session') return { typ: 'session', sub: claims.userId, sid: claims.sessionId, org: claims.organizationId }
  if (claims.typ === 'worker') return { typ: 'worker', sub: claims.jobId, job: claims.jobId, org: claims.organizationId }
  return { typ: 'service', sub: 'service', on_behalf_of: claims.onBehalfOf, org: claims.organizationId }
}

/** Rejects malformed IDs here: in the database they would fail every request of the same batch. */
function fromPayload(payload: JWTPayload): Claims | null {
  const id = (name: string) => (typeof payload[name] === 'string' && isUuid(payload[name]) ? payload[name] : null)
  const organizationId = id('org')
  if (payload['org'] != null && !organizationId) return null
  if (payload['typ'] === 'session' && id('sub') && id('sid'))
    return { typ: 'session', userId: id('sub')!, sessionId: id('sid')!, organizationId }
  if (payload['typ'] === 'worker' && id('job') && organizationId) return { typ: 'worker', jobId: id('job')!, organizationId }
  if (payload['typ'] === 'service') return { typ: 'service', onBehalfOf: id('on_behalf_of'), organizationId }
  return null
}
