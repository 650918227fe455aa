/** Access tokens that hosts issue, shared by all processes: a host can limit how many it issues, so one process requests each. */
export interface VendorToken {
  readonly value: string
  /** Differs for every token that was issued. */
  readonly version: string
  readonly obtainedAt: Date
  readonly expiresAt: Date
}

/** The name of the token of an organization's account. */
export const accountTokenName = (accountId: string): string => `account ${accountId}`

export interface VendorTokens {
  /** The last token that was issued, even if it has expired; null if there is none. */
  find(hostName: string, name: string): Promise<VendorToken | null>
  /** Whether the caller may request the next token; nobody else may until the given time. */
  claim(hostName: string, name: string, until: Date): Promise<boolean>
  /** Stores a new token and ends the claim. */
  store(hostName: string, name: string, token: VendorToken): Promise<void>
  /** Ends the claim without a token. */
  release(hostName: string, name: string): Promise<void>
}
