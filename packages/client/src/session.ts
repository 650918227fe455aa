/** Who the client speaks as: an API key, or a person's session that is renewed before it ends. */
import type { Grant } from './generated/types.ts'
import { ProblemError } from './problem.ts'

export interface SessionTokens {
  accessToken: string
  /** Null where a browser holds it in a cookie that no script can read. */
  refreshToken: string | null
  /** Milliseconds since 1970 at which the access token ends. */
  expiresAt: number
  organizationId: string | null
}

/** A token that ends this soon is renewed first. */
const RENEW_BEFORE_MS = 30_000

export class Session {
  #tokens: SessionTokens | null
  #renewing: Promise<void> | null = null
  readonly #renew: (tokens: SessionTokens) => Promise<Grant>
  readonly #onChange: (tokens: SessionTokens | null) => void

  constructor(
    tokens: SessionTokens | null,
    renew: (tokens: SessionTokens) => Promise<Grant>,
    onChange: (tokens: SessionTokens | null) => void,
  ) {
    this.#tokens = tokens
    this.#renew = renew
    this.#onChange = onChange
  }

  get tokens(): SessionTokens | null {
    return this.#tokens
  }

  adopt(grant: Grant): void {
    this.#tokens = {
      accessToken: grant.access_token,
      refreshToken: grant.refresh_token ?? null,
      expiresAt: Date.now() + grant.expires_in * 1000,
      organizationId: grant.organization_id,
    }
    this.#onChange(this.#tokens)
  }

  leave(): void {
    if (!this.#tokens) return
    this.#tokens = null
    this.#onChange(null)
  }

  /** The access token, renewed if it is about to end; null where nobody is signed in. */
  async token(): Promise<string | null> {
    if (this.#tokens && this.#tokens.expiresAt - Date.now() < RENEW_BEFORE_MS) await this.renew(this.#tokens.accessToken)
    return this.#tokens?.accessToken ?? null
  }

  /** A refresh token works once: all who find the same token stale wait for one renewal. */
  async renew(stale: string): Promise<void> {
    const tokens = this.#tokens
    if (!tokens || tokens.accessToken !== stale) return
    this.#renewing ??= this.#renew(tokens)
      .then((grant) => this.adopt(grant))
      .catch((error: unknown) => {
        // Refused, so it will never work again; after an outage the next call tries once more.
        if (error instanceof ProblemError && error.status === 401 && this.#tokens === tokens) this.leave()
        throw error
      })
      .finally(() => {
        this.#renewing = null
      })
    await this.#renewing
  }
}
