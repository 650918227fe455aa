/** Sign-in at OpenID Connect providers, and proof that a domain belongs to an organization. */

/** A provider and how we are known there. */
export interface Provider {
  readonly issuer: string
  readonly clientId: string
  /** Null for a client without a secret: PKCE alone protects the code. */
  readonly clientSecret: string | null
  /** Separated by spaces; `openid` among them. */
  readonly scopes: string
}

/** The provider of the whole installation, from the settings. */
export interface InstallationProvider extends Provider {
  /** Shown on the button. */
  readonly name: string
  /** Domains of email addresses that it is trusted for; empty: all. */
  readonly domains: readonly string[]
  /** Whether people without an account get one. */
  readonly maySignUp: boolean
}

/** What one sign-in is bound to; all of it is random except the address. */
interface Attempt {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  readonly redirectUri: string
}

/** Whom the provider vouches for. Everything but the subject is optional, and claims have any shape. */
export interface VouchedPerson {
  readonly issuer: string
  readonly subject: string
  readonly email: string | null
  /** Whether the provider says that the address is theirs. */
  readonly isEmailVerified: boolean
  readonly name: string | null
  readonly claims: Readonly<Record<string, unknown>>
  readonly idToken: string
}

/**
 * `address`: the URL is not one that we call. `unreachable`: no usable response. `refused`: the provider says no, for example because
 * the user cancelled. `invalid`: what came back is not for this attempt, not from this provider, or not signed by it.
 */
export type SsoFailureKind = 'address' | 'unreachable' | 'refused' | 'invalid'

/** The message is for owners of the connection and for operators; it quotes nothing from other hosts. */
export class SsoFailure extends Error {
  readonly kind: SsoFailureKind
  /** The provider's error code, such as `access_denied`. */
  readonly code: string | null
  constructor(kind: SsoFailureKind, message: string, code: string | null = null, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.kind = kind
    this.code = code
  }
}

export interface SingleSignOn {
  /** Null if the settings name none. */
  readonly installation: InstallationProvider | null
  /** Reads the provider's description. Throws an SsoFailure, like everything below. */
  discover(provider: Provider): Promise<void>
  /** Where the browser goes to sign in. */
  start(provider: Provider, attempt: Attempt, emailHint: string | null): Promise<string>
  /** Exchanges the code of the response and checks everything about it. */
  finish(provider: Provider, attempt: Attempt, response: URLSearchParams): Promise<VouchedPerson>
  /** Where the browser goes to end the session at the provider; null if it offers that to nobody. */
  signOutUrl(provider: Provider, idToken: string | null, returnTo: string): Promise<string | null>
  /** The texts at a name in the DNS; empty if there are none. */
  txtRecords(name: string): Promise<string[]>
  close(): Promise<void>
}
