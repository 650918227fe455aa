/** Signed tokens: one algorithm, our own keys, our own issuer; everything else about a token is disbelieved. */
import { HOUR_MS } from '#core/time.ts'
import { createLocalJWKSet, importJWK, jwtVerify, SignJWT, type JWTPayload } from 'jose'
import type { Clock } from '#core/clock.ts'
import { isUuid, newId } from '#core/ids.ts'
import type { Db } from '#db/tables.ts'
import * as signingKeys from '#model/identity/signing-key.ts'

export const ACCESS_TOKEN_SECONDS = 900
/** A worker may still report shortly after its job ran out of time. */
const WORKER_GRACE_SECONDS = 600

const ISSUER = 'svc'
const AUDIENCE = 'svc-api'
/** Another process may have made a key since: ask again, but not for every forged token. */
const RELOAD_AFTER_MS = 5_000
/** A process that runs for months must take up a new key, and stop signing with one that others are about to forget. */
const REFRESH_AFTER_MS = HOUR_MS
const MAX_REMEMBERED_TOKENS = 10_000
/** Clocks of two machines differ a little; a token from beyond that was not made by one of ours. */
const CLOCK_SKEW_SECONDS = 60

type Claims =
  | { typ: 'session'; userId: string; sessionId: string; organizationId: string | null }
  | { typ: 'worker'; jobId: string; organizationId: string }
  | { typ: 'service'; onBehalfOf: string | null; organizationId: string | null }

export interface Tokens {
  sign(claims: Claims, lifetimeSeconds: number): Promise<string>
  /** Null for whatever is not a token of ours that is valid now. */
  verify(token: string): Promise<Claims | null>
  jwks(): Promise<{ keys: object[] }>
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
  /** A signature is checked once per token; what can change between two uses is checked every time, elsewhere. */
  const remembered = new Map<string, { claims: Claims; expiresAtMs: number }>()

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

  return {
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
      const known = remembered.get(token)
      if (known) return known.expiresAtMs > clock.now().getTime() ? known.claims : null
      const payload = await verifyFresh(token, true)
      const claims = payload && fromPayload(payload)
      if (!claims) return null
      if (remembered.size >= MAX_REMEMBERED_TOKENS) remembered.delete(remembered.keys().next().value!)
      remembered.set(token, { claims, expiresAtMs: payload.exp! * 1000 })
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
  }
}

function toPayload(claims: Claims): JWTPayload {
  if (claims.typ === 'session') return { typ: 'session', sub: claims.userId, sid: claims.sessionId, org: claims.organizationId }
  if (claims.typ === 'worker') return { typ: 'worker', sub: claims.jobId, job: claims.jobId, org: claims.organizationId }
  return { typ: 'service', sub: 'service', on_behalf_of: claims.onBehalfOf, org: claims.organizationId }
}

/** Ids that are none would be a fault in the database, and one for every request of the same batch. */
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
