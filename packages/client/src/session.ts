/** A user's session, which is renewed before it expires. */
import type { Grant } from './generated/types.ts'
import { ProblemError } from './problem.ts'

export interface SessionTokens {
  accessToken: string
  /** Null if a browser holds it in a cookie that scripts cannot read. */
  refreshToken: string | null
  /** When the access token expires, in milliseconds since 1970. */
  expiresAt: number
  organizationId: string | null
}

/** A token that expires within this time is renewed first. */
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

  end(): void {
    if (!this.#tokens) return
    this.#tokens = null
    this.#onChange(null)
  }

  /** The access token, renewed if it is about to expire; null if nobody is signed in. */
  async token(): Promise<string | null> {
    if (this.#tokens && this.#tokens.expiresAt - Date.now() < RENEW_BEFORE_MS) await this.renew(this.#tokens.accessToken)
    return this.#tokens?.accessToken ?? null
  }

  /** A refresh token works once, so concurrent calls with the same stale token share one renewal. */
  async renew(stale: string): Promise<void> {
    const tokens = this.#tokens
    if (!tokens || tokens.accessToken !== stale) return
    this.#renewing ??= this.#renew(tokens)
      .then((grant) => this.adopt(grant))
      .catch((error: unknown) => {
        // Rejected, so it will never work again; after an outage the next call retries.
        if (error instanceof ProblemError && error.status === 401 && this.#tokens === tokens) this.end()
        throw error
      })
      .finally(() => {
        this.#renewing = null
      })
    await this.#renewing
  }
}
