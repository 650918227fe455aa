/** The headers that authenticate requests at a host. */
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import type { Clock } from '#core/clock.ts'
import type { Egress } from '#adapters/egress/guard.ts'
import { VendorError } from '#ports/vendors/call.ts'
import type { VendorTokens } from '#ports/vendor-tokens.ts'
import { createAccessToken, type AccessToken } from './access-token.ts'
import type { Credential } from './credential.ts'

interface Authorization {
  readonly headers: Readonly<Record<string, string>>
  /** Of a token that can be renewed; null for a fixed credential. */
  readonly version: string | null
}

export interface Authorizer {
  /** `refused` is the version of a token that the host did not accept. */
  authorize(refused: string | null): Promise<Authorization>
}

const NOTHING: Authorization = { headers: {}, version: null }
const TOKEN_DEADLINE_MS = 15_000
const MAX_TOKEN_BYTES = 64 * 1024
/** A token without a stated lifetime; RFC 6749 recommends stating it. */
const DEFAULT_LIFETIME_SECONDS = 300
const MAX_LIFETIME_SECONDS = 7 * 86_400

/** How some servers say within a 400 that too many tokens were requested, which says nothing about the credentials. */
const LIMIT = /\\?"code\\?"\s*:\s*\\?"?429\b/

const TokenResponse = Compile(
  Type.Object({
    access_token: Type.String({ pattern: '^[\\x21-\\x7e]+$', maxLength: 16_000 }),
    expires_in: Type.Optional(Type.Union([Type.Number(), Type.String({ pattern: '^[0-9]{1,9}$' })])),
  }),
)

interface AuthorizerParts {
  readonly hostName: string
  /** Of the shared token: one for each account. */
  readonly tokenName: string
  readonly egress: Egress
  readonly tokens: VendorTokens
  readonly clock: Clock
}

/** The credential is asked for with every request, because an organization can replace its own at any time. */
export function createAuthorizer(credentialNow: () => Promise<Credential>, parts: AuthorizerParts): Authorizer {
  let token: { of: string; access: AccessToken } | null = null
  const tokenOf = (credential: OAuth): AccessToken => {
    const of = JSON.stringify(credential)
    if (token?.of !== of) {
      const { tokenName: name, ...rest } = parts
      token = {
        of,
        access: createAccessToken({ ...rest, name, secret: credential.secret, request: () => requestToken(credential, parts) }),
      }
    }
    return token.access
  }
  return {
    async authorize(refused) {
      const credential = await credentialNow()
      if (credential.kind === 'none') return NOTHING
      if (credential.kind === 'fixed') return { headers: credential.headers, version: null }
      const { value, version } = await tokenOf(credential).get(refused)
      return { headers: { authorization: `Bearer ${value}` }, version }
    },
  }
}

type OAuth = Extract<Credential, { kind: 'oauth' }>

/** Client credentials or a user's password (RFC 6749). Errors name the host and the status, never what was sent or received. */
async function requestToken({ tokenUrl, body: encoding, fields, header }: OAuth, { hostName, egress }: AuthorizerParts) {
  const isForm = encoding === 'form'
  const answer = await egress
    .fetch(tokenUrl, {
      method: 'POST',
      headers: {
        accept: 'application/json',
        'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
        ...(header === null ? {} : { authorization: header }),
      },
      body: Buffer.from(isForm ? new URLSearchParams(fields).toString() : JSON.stringify(fields)),
      maxBytes: MAX_TOKEN_BYTES,
      deadlineMs: TOKEN_DEADLINE_MS,
    })
    .catch(() => {
      throw new VendorError('unavailable', hostName, `The token server of ${hostName} could not be reached`)
    })
  if (answer.status === 400 && LIMIT.test(answer.body.toString('utf8')))
    throw new VendorError('unavailable', hostName, `The token server of ${hostName} issues no more tokens for now`)
  if (answer.status === 400 || answer.status === 401)
    throw new VendorError('unauthorized', hostName, `The token server of ${hostName} refused the credentials (HTTP ${answer.status})`)
  const body = answer.status === 200 ? parsed(answer.body) : null
  if (!TokenResponse.Check(body))
    throw new VendorError('unavailable', hostName, `The token server of ${hostName} issued no token (HTTP ${answer.status})`)
  const seconds = Number(body.expires_in ?? DEFAULT_LIFETIME_SECONDS)
  return { value: body.access_token, lifetimeMs: Math.min(Math.max(seconds, 1), MAX_LIFETIME_SECONDS) * 1000 }
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return null
  }
}
