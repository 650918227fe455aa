import type { Principal } from '#core/principal.ts'

/** What is known about a call so far; the audit entry and the log line are made from it at the end. */
export interface Trace {
  readonly invocationId: string
  readonly startedAtMs: number
  principal: Principal | null
  /** The organization that the call counts for: the caller's, unless the operation attributed it to another. */
  organizationId: string | null
  inputHash: Buffer | null
  headers: Record<string, string>
  /** Set for a read that is audited together with others of the same subject. */
  subject: string | null
  /**
   * The time of the audit entry, from the first attempt to write it on: if a call that was thought to have failed has committed with
   * its entry, the entry of the failure has the same key and adds nothing.
   */
  auditedAt: Date | null
  /** True once the audit entry has committed with the call's own transaction. */
  audited: boolean
}

/** Whose reads must find what a call has written: the caller, its organization, and the one that the call was attributed to. */
export const callersOf = ({ principal, organizationId }: Trace): string[] => [
  ...new Set([organizationId, principal?.organizationId, principal?.userId].filter((id) => id != null)),
]
