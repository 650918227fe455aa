/** What every call to a vendor has in common: its options, and how it fails. */

export interface CallOptions {
  readonly signal?: AbortSignal
  /** Whether the call fails at once if the host does not respond lately or limits requests, instead of waiting for it. */
  readonly failFast?: boolean
  /** For the whole call, including queueing and retries. Defaults to the host's deadline. */
  readonly deadlineMs?: number
}

/**
 * `unavailable`: the host cannot be reached or fails; `timeout`: no response in time; `unauthorized`: it does not accept the
 * credential, even a renewed one; `forbidden`: the account must not do this, because of a quota, a contract or a missing card;
 * `refused`: it rejects the request with a reason; `invalid-response`: the response violates its protocol; `not-found`.
 */
export type VendorErrorCode = 'unavailable' | 'timeout' | 'unauthorized' | 'forbidden' | 'refused' | 'invalid-response' | 'not-found'

/** A failure of a vendor, with a code that does not depend on the vendor. The message is shown to users and names the host. */
export class VendorError extends Error {
  readonly code: VendorErrorCode
  readonly hostName: string
  constructor(code: VendorErrorCode, hostName: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.hostName = hostName
  }
}
