/** What the owner of an account is told by email, and what the audit log calls it. */
export const ACCOUNT_NOTICES = [
  'email_changed',
  'password_changed',
  'authenticator_added',
  'authenticator_removed',
  'passkey_added',
  'passkey_removed',
  'recovery_codes_renewed',
  'recovery_code_used',
  'two_factors_reset',
  'wrong_codes',
  'account_deleted',
] as const
export type AccountNotice = (typeof ACCOUNT_NOTICES)[number]
