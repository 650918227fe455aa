import { batcher } from '#core/batcher.ts'
import type { Clock } from '#core/clock.ts'
import { ANONYMOUS, SERVICE, type Principal } from '#core/principal.ts'
import { problem, type Problem } from '#core/problem.ts'
import { keyScopes, satisfies, userScopes } from '#core/scopes.ts'
import type { Notices } from '#db/notices.ts'
import type { Db } from '#db/tables.ts'
import * as apiKeys from '#model/identity/api-key.ts'
import * as credentials from '#model/identity/credential.ts'
import { twoFactorsRequired } from './two-factor-rule.ts'
import { createMemory } from './memory.ts'
import type { TileSignatures } from './tile-signatures.ts'
import type { Tokens } from './tokens.ts'

/** The credential of a request: `bearer` can be a session token or an API key, `key` (X-API-Key, key=) only an API key. */
export type Credential = { via: 'bearer' | 'key'; secret: string } | SignedCredential | null

/** A signature in a tile URL, and the layer and style that the URL names. */
interface SignedCredential {
  via: 'signature'
  secret: string
  target: string
}

/** A principal and its rate limit; null: not limited. */
export interface Authenticated {
  principal: Principal
  allowance: Allowance | null
}

export interface Allowance {
  policy: 'key' | 'user' | 'address'
  subject: string
  limit: number
  windowSeconds: number
}

/** High, because maps load thousands of tiles; it only stops a runaway script. */
export const USER_REQUESTS_PER_HOUR = 36_000
export const ANONYMOUS_REQUESTS_PER_MINUTE = 600
const HOUR_SECONDS = 3_600
const MINUTE_SECONDS = 60
/** One batch at a time: the next one fills up meanwhile, which saves round trips. */
const BATCH = { maxKeys: 200, maxInFlight: 1 }

interface Terms {
  /** For what users do with their own account: possible while an organization's rule keeps them from everything else. */
  isAboutOwnAccount?: boolean
}

export interface Authenticator {
  /** Throws the same 401 for every invalid credential, without a reason. */
  authenticate(credential: Credential, terms?: Terms): Promise<Authenticated>
  anonymous(clientAddress: string): Authenticated
}

/** `notices` invalidates the cache; without it, every call queries the database. */
export function createAuthenticator(
  db: Db,
  clock: Clock,
  { tokens, tileSignatures }: { tokens: Tokens; tileSignatures: TileSignatures },
  notices: Pick<Notices, 'state'> | null,
): Authenticator {
  const memory = createMemory(clock, notices)
  const findSession = batcher((claims: readonly credentials.SessionClaim[]) => credentials.liveSessions(db, claims, clock.now()), BATCH)
  const findKey = batcher((hashes: readonly Buffer[]) => credentials.liveKeys(db, hashes, clock.now()), BATCH)
  const liveSession = (claim: credentials.SessionClaim) =>
    memory.session(`${claim.sessionId}/${claim.organizationId}`, () => findSession(claim))
  const liveKey = (hash: Buffer) => memory.key(hash.toString('base64url'), () => findKey(hash))

  const byKey = async (secret: string): Promise<Found | null> => {
    const key = apiKeys.isWellFormed(secret) ? await liveKey(apiKeys.hashSecret(secret)) : null
    return key && fromKey(key)
  }
  const byToken = async (token: string): Promise<Found | null> => {
    const claims = await tokens.verify(token)
    if (claims?.typ === 'worker')
      return {
        principal: {
          ...ANONYMOUS,
          kind: 'worker',
          id: claims.jobId,
          jobId: claims.jobId,
          organizationId: claims.organizationId,
          scopes: ['processing:process'],
        },
        allowance: null,
      }
    if (claims?.typ === 'service')
      return { principal: { ...SERVICE, userId: claims.onBehalfOf, organizationId: claims.organizationId }, allowance: null }
    if (claims?.typ !== 'session') return null
    const session = await liveSession(claims)
    return session && { ...fromSession(session), mustSetUpTwoFactors: session.mustSetUpTwoFactors }
  }

  const bySignature = signatureReader(db, clock, tileSignatures, memory)

  return {
    async authenticate(given, { isAboutOwnAccount = false } = {}) {
      if (!given) throw unauthorized(false)
      if (given.via === 'signature') return (await bySignature(given.secret, given.target)) ?? refuse()
      const isKey = given.secret.startsWith('svc_')
      if (given.via === 'key' && !isKey) throw unauthorized(true) // Session tokens are accepted only as bearer tokens.
      const authenticated = isKey ? await byKey(given.secret) : await byToken(given.secret)
      if (!authenticated) throw unauthorized(true)
      const { mustSetUpTwoFactors, ...caller } = authenticated
      if (mustSetUpTwoFactors && !isAboutOwnAccount) throw twoFactorsRequired()
      return caller
    },
    anonymous: (clientAddress) => ({
      principal: ANONYMOUS,
      allowance: {
        policy: 'address',
        subject: `address:${clientAddress}`,
        limit: ANONYMOUS_REQUESTS_PER_MINUTE,
        windowSeconds: MINUTE_SECONDS,
      },
    }),
  }
}

/** The rule of an organization binds users; API keys go on working. */
interface Found extends Authenticated {
  mustSetUpTwoFactors?: boolean
}

/** Finds whoever signed a tile URL, as they are now, for tiles only. */
function signatureReader(db: Db, clock: Clock, tileSignatures: TileSignatures, memory: ReturnType<typeof createMemory>) {
  const findMember = batcher((claims: readonly credentials.MemberClaim[]) => credentials.liveMembers(db, claims), BATCH)
  const findKeyById = batcher((ids: readonly string[]) => credentials.liveKeysById(db, ids, clock.now()), BATCH)
  return async (text: string, target: string): Promise<Authenticated | null> => {
    const signature = await tileSignatures.verify(text, target)
    if (!signature) return null
    const { id, kind, organizationId } = signature
    if (kind === 'api_key') {
      const key = await memory.key(`id ${id}`, () => findKeyById(id))
      return key && key.organizationId === organizationId ? forTiles(fromKey(key)) : null
    }
    const expiresAt = new Date(signature.expiresAtSeconds * 1000)
    const session = await memory.session(`member ${id}/${organizationId}`, async () => {
      const member = await findMember({ userId: id, organizationId })
      return member && { ...member, expiresAt }
    })
    if (session?.mustSetUpTwoFactors) throw twoFactorsRequired()
    return session && forTiles(fromSession(session))
  }
}

const TILE_SCOPE = 'items:read'

const forTiles = ({ principal, allowance }: Authenticated): Authenticated => ({
  principal: { ...principal, scopes: satisfies(principal.scopes, TILE_SCOPE) ? [TILE_SCOPE] : [] },
  allowance,
})

function refuse(): never {
  throw problem('unauthorized', 'The signature of this tile URL is invalid or has expired; request the TileJSON again', {
    headers: { 'WWW-Authenticate': 'Bearer realm="svc", error="invalid_token"' },
  })
}

/** The same for every invalid credential, so that it reveals nothing about it. */
const HINT =
  'A session token expires after 15 minutes: refresh the session or sign in again. An API key begins with svc_ and may have expired ' +
  "or been revoked: check that it is complete, or create a new one. Authorization must be 'Bearer', a space and one of the two; " +
  'X-API-Key and key= accept only an API key.'

function unauthorized(hasCredential: boolean): Problem {
  if (!hasCredential)
    return problem('unauthorized', 'The request has no credential; send Authorization: Bearer with a session token or an API key', {
      headers: { 'WWW-Authenticate': 'Bearer realm="svc"' },
    })
  return problem('unauthorized', 'Invalid authentication credentials', {
    headers: { 'WWW-Authenticate': 'Bearer realm="svc", error="invalid_token"' },
    members: { hint: HINT },
  })
}

function fromKey(key: credentials.LiveKey): Authenticated {
  return {
    principal: {
      kind: 'api_key',
      id: key.id,
      userId: key.userId,
      organizationId: key.organizationId,
      organizationRole: key.organizationRole,
      apiKeyId: key.id,
      jobId: null,
      scopes: keyScopes(key.permissions, key.explicitScopes),
    },
    allowance: { policy: 'key', subject: `key:${key.id}`, limit: key.rateLimitPerHour, windowSeconds: HOUR_SECONDS },
  }
}

function fromSession(session: credentials.LiveSession): Authenticated {
  const { userId, organizationId, organizationRole } = session
  return {
    principal: {
      kind: 'user',
      id: userId,
      userId,
      organizationId,
      organizationRole,
      apiKeyId: null,
      jobId: null,
      scopes: userScopes(session),
    },
    allowance: { policy: 'user', subject: `user:${userId}`, limit: USER_REQUESTS_PER_HOUR, windowSeconds: HOUR_SECONDS },
  }
}
