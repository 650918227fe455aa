/** What an erasure deleted and kept, and where it searched for the rest. */
export interface Kept {
  readonly table: string
  readonly rows: number
}

export interface Proof {
  readonly organization: string
  readonly erased_at: string
  /** Rows that were deleted, by table. */
  readonly deleted: Readonly<Record<string, number>>
  readonly deleted_accounts: number
  /** Accounts of members that other organizations or their records need. */
  readonly remaining_accounts: number
  readonly deleted_files: number
  readonly kept: readonly Kept[]
  /** Documents of invoices. */
  readonly kept_files: readonly string[]
  readonly keep_until: string
  readonly laws: readonly string[]
  /** Tables in which identifiers of the organization, its data and its people were searched for after everything was deleted. */
  readonly searched: readonly string[]
  /** What was found and is not kept by law; empty if the erasure is complete. */
  readonly unexpected: readonly string[]
}
