import type { Principal } from '#core/principal.ts'

/** What is known of a call so far; the audit and the log read it at the end, however the call ended. */
export interface Trace {
  readonly invocationId: string
  readonly startedAtMs: number
  principal: Principal | null
  /** Whose call it was; the caller's organization unless the operation attributed it to another. */
  organizationId: string | null
  inputHash: Buffer | null
  headers: Record<string, string>
  /** True once the audit entry has committed with the call's own transaction. */
  audited: boolean
}
