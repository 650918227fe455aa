import type { AccountSecret } from './vendors/source.ts'

/** Accounts that organizations have at vendors. Their secrets are decrypted only where a request is sent. */
export interface VendorAccounts {
  /** Null if there is no such account any more. */
  secretOf(accountId: string): Promise<AccountSecret | null>
}
