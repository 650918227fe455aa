/** OpenID Connect by openid-client, with every request through the egress guard and every time from our clock. */
import { Resolver } from 'node:dns/promises'
import { LRUCache } from 'lru-cache'
import * as oidc from 'openid-client'
import { createEgress, EgressError, type Egress, type EgressMethod, type EgressOptions } from '#adapters/egress/guard.ts'
import type { Clock } from '#core/clock.ts'
import { MINUTE_MS } from '#core/time.ts'
import { SsoFailure, type InstallationProvider, type Provider, type SingleSignOn, type VouchedPerson } from '#ports/sso.ts'

interface OpenIdOptions extends EgressOptions {
  clock: Clock
  installation: InstallationProvider | null
  /** Name servers other than the machine's own. */
  nameServers?: readonly string[]
}

/** Descriptions and keys of providers are a few kilobytes. */
const MAX_RESPONSE_BYTES = 512 * 1024
const DEADLINE_MS = 10_000
/** Keys are fetched for each sign-in, so that a rotated one is known at once; the description seldom changes. */
const DESCRIPTION_MS = 10 * MINUTE_MS
const MAX_DESCRIPTIONS = 500
/** The clocks of a provider and of this machine may differ by this much. */
const TOLERANCE_SECONDS = 60
const DNS_TIMEOUT_MS = 5_000
const MAX_SUBJECT_LENGTH = 255
const MAX_NAME_LENGTH = 200
const MAX_EMAIL_LENGTH = 254
/** One address, whose domain is what follows its only @. */
const EMAIL = /^[^\s@<>,;:"()[\]\\]+@[^\s@<>,;:"()[\]\\]+$/

export function createOpenId({ clock, installation, nameServers, ...options }: OpenIdOptions): SingleSignOn {
  const egress = createEgress(options)
  const fetchThrough = fetchOf(egress)
  const descriptions = new LRUCache<string, oidc.ServerMetadata>({ max: MAX_DESCRIPTIONS, ttl: DESCRIPTION_MS })

  const configure = (server: oidc.ServerMetadata, provider: Provider) => configured(server, provider, { clock, fetch: fetchThrough })
  const describe = async (provider: Provider): Promise<oidc.ServerMetadata> => {
    const known = descriptions.get(provider.issuer)
    if (known) return known
    const config = await oidc.discovery(requireIssuer(provider.issuer), provider.clientId, undefined, oidc.None(), {
      [oidc.customFetch]: fetchThrough,
      execute: [oidc.allowInsecureRequests],
      timeout: DEADLINE_MS / 1_000,
    })
    const server = requireComplete(config.serverMetadata(), provider.issuer)
    descriptions.set(provider.issuer, server)
    return server
  }

  return {
    installation,
    discover: (provider) =>
      explained(async () => {
        descriptions.delete(provider.issuer)
        await describe(provider)
      }),
    start: (provider, { state, nonce, verifier, redirectUri }, emailHint) =>
      explained(async () => {
        const config = configure(await describe(provider), provider)
        const url = oidc.buildAuthorizationUrl(config, {
          redirect_uri: redirectUri,
          scope: provider.scopes,
          state,
          nonce,
          code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
          ...(emailHint === null ? {} : { login_hint: emailHint }),
        })
        return url.href
      }),
    finish: (provider, { state, nonce, verifier, redirectUri }, response) =>
      explained(async () => {
        const config = configure(await describe(provider), provider)
        const url = new URL(redirectUri)
        url.search = response.toString()
        const tokens = await oidc.authorizationCodeGrant(config, url, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        })
        const claims = tokens.claims()!
        return vouched(config, { ...claims, ...(await moreClaims(config, claims, tokens.access_token)) }, tokens.id_token!)
      }),
    signOutUrl: (provider, idToken, returnTo) =>
      explained(async () => {
        const server = await describe(provider)
        if (server.end_session_endpoint === undefined) return null
        return oidc.buildEndSessionUrl(configure(server, provider), {
          post_logout_redirect_uri: returnTo,
          ...(idToken === null ? {} : { id_token_hint: idToken }),
        }).href
      }),
    txtRecords: (name) => textsAt(name, nameServers),
    close: () => egress.close(),
  }
}

function configured(
  server: oidc.ServerMetadata,
  provider: Provider,
  { clock, fetch }: { clock: Clock; fetch: oidc.CustomFetch },
): oidc.Configuration {
  const skew = Math.round((clock.now().getTime() - Date.now()) / 1_000)
  const metadata = { [oidc.clockSkew]: skew, [oidc.clockTolerance]: TOLERANCE_SECONDS }
  const config = new oidc.Configuration(server, provider.clientId, metadata, authenticationOf(server, provider))
  config[oidc.customFetch] = fetch
  oidc.allowInsecureRequests(config) // The guard decides: https, unless the operator allows a host.
  oidc.enableNonRepudiationChecks(config) // The signature is checked although the token comes from the provider itself.
  return config
}

async function textsAt(name: string, nameServers: readonly string[] | undefined): Promise<string[]> {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 2 })
  if (nameServers) resolver.setServers(nameServers)
  const records = await resolver.resolveTxt(name).catch(() => [])
  return records.map((parts) => parts.join(''))
}

/** As the standards demand unless the provider says otherwise: in the header. Some providers accept the body only. */
function authenticationOf(server: oidc.ServerMetadata, { clientSecret }: Provider): oidc.ClientAuth {
  if (clientSecret === null) return oidc.None()
  const methods = server.token_endpoint_auth_methods_supported
  const isBodyOnly = methods !== undefined && !methods.includes('client_secret_basic') && methods.includes('client_secret_post')
  return isBodyOnly ? oidc.ClientSecretPost(clientSecret) : oidc.ClientSecretBasic(clientSecret)
}

function requireIssuer(issuer: string): URL {
  const url = URL.parse(issuer)
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username || url.password)
    throw new SsoFailure('address', 'The issuer must be an https URL without a query')
  return url
}

/**
 * The description must be of this very issuer. An address that stands for every tenant of a provider (`common` at Microsoft) describes
 * another one: anybody with an account there could sign in.
 */
function requireComplete(server: Readonly<oidc.ServerMetadata>, issuer: string): oidc.ServerMetadata {
  const bare = (url: string) => url.replace(/\/$/, '')
  if (bare(server.issuer) !== bare(issuer))
    throw new SsoFailure('invalid', 'The provider describes another issuer; use the issuer of your own tenant')
  const hasEndpoints = server.authorization_endpoint && server.token_endpoint && server.jwks_uri
  if (!hasEndpoints) throw new SsoFailure('invalid', 'The provider does not offer the authorization code flow')
  const methods = server.code_challenge_methods_supported
  if (methods !== undefined && !methods.includes('S256')) throw new SsoFailure('invalid', 'The provider does not support PKCE with S256')
  return { ...server }
}

/**
 * Claims that some providers put only there. The subject must be that of the ID token, whose claims are never replaced. A provider that
 * fails to answer fails the sign-in: without its groups, people would lose their access.
 */
async function moreClaims(config: oidc.Configuration, claims: oidc.IDToken, accessToken: string): Promise<oidc.UserInfoResponse | null> {
  if (config.serverMetadata().userinfo_endpoint === undefined) return null
  const info = await oidc.fetchUserInfo(config, accessToken, claims.sub)
  const own = new Set(Object.keys(claims))
  return Object.fromEntries(Object.entries(info).filter(([name]) => !own.has(name))) as oidc.UserInfoResponse
}

function vouched(config: oidc.Configuration, claims: Readonly<Record<string, unknown>>, idToken: string): VouchedPerson {
  const subject = textOf(claims['sub'], MAX_SUBJECT_LENGTH)
  if (subject === null) throw new SsoFailure('invalid', 'The provider names the user in a way that cannot be stored')
  const given = textOf(claims['email'], MAX_EMAIL_LENGTH)
  const email = given !== null && EMAIL.test(given) ? given : null
  // Microsoft calls it by a name of its own.
  const isEmailVerified = claims['email_verified'] === true || claims['xms_edov'] === true || claims['xms_edov'] === 1
  return {
    issuer: config.serverMetadata().issuer,
    subject,
    email,
    isEmailVerified: email !== null && isEmailVerified,
    name: textOf(claims['name'], MAX_NAME_LENGTH) ?? textOf(claims['preferred_username'], MAX_NAME_LENGTH),
    claims,
    idToken,
  }
}

/** Null for anything but text that can be stored and shown: no control characters, no half characters. */
function textOf(value: unknown, maxLength: number): string | null {
  if (typeof value !== 'string' || value.trim() === '' || value.length > maxLength) return null
  return /\p{Cc}/u.test(value) || !value.isWellFormed() ? null : value.trim()
}

/** What the library sends, sent by the guard; it follows no redirects. */
function fetchOf(egress: Egress): oidc.CustomFetch {
  return async (url, { method, headers, body }) => {
    const answer = await egress.fetch(url, {
      method: method as EgressMethod,
      headers,
      ...(body === undefined || body === null ? {} : { body: Buffer.from(String(body)) }),
      maxBytes: MAX_RESPONSE_BYTES,
      redirects: 'return',
      deadlineMs: DEADLINE_MS,
    })
    const isEmpty = answer.status === 204 || answer.status === 304
    return new Response(isEmpty ? null : new Uint8Array(answer.body), { status: answer.status, headers: answer.headers })
  }
}

/** Errors of the library and of the guard as ours. */
async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof SsoFailure ? error : failureOf(error)
  }
}

const UNREACHABLE: ReadonlySet<string> = new Set(['timeout', 'network', 'unresolved', 'too-large', 'redirect'])

function failureOf(error: unknown): SsoFailure {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof EgressError)
      return new SsoFailure(UNREACHABLE.has(cause.kind) ? 'unreachable' : 'address', `The provider cannot be called: ${cause.message}`)
  if (error instanceof oidc.AuthorizationResponseError)
    return new SsoFailure('refused', 'The provider refused the sign-in', knownCode(error.error), error)
  if (error instanceof oidc.ResponseBodyError)
    return new SsoFailure('refused', 'The provider refused the client or the code', knownCode(error.error), error)
  if (error instanceof oidc.ClientError && error.code === 'OAUTH_RESPONSE_IS_NOT_CONFORM')
    return new SsoFailure('unreachable', 'There is no OpenID Connect provider at this address', null, error)
  return new SsoFailure('invalid', 'The response of the provider is not valid', null, error)
}

/** Codes of the standards only: other text of the provider is not passed on. */
const knownCode = (code: string): string | null => (/^[a-z_]{1,40}$/.test(code) ? code : null)
