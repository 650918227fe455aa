import { problem } from './problem.ts'
import type { OrganizationRole } from './vocabulary.ts'

type PrincipalKind = 'user' | 'api_key' | 'worker' | 'service' | 'anonymous'

/** The authenticated caller. All access decisions are based on it, never on the body. */
export interface Principal {
  readonly kind: PrincipalKind
  /** ID of the credential: of the user, key or job; 'service'; 'anonymous'. */
  readonly id: string
  /** The user whose roles and limits count: the user, the owner of the key, or the user the service acts for; otherwise null. */
  readonly userId: string | null
  readonly organizationId: string | null
  readonly organizationRole: OrganizationRole | null
  readonly apiKeyId: string | null
  /** The job a worker can report on. */
  readonly jobId: string | null
  readonly scopes: readonly string[]
  /** Set for an approved purchase: waives the user's spending limits up to its ceiling. */
  readonly approval?: { readonly id: string; readonly ceilingCredits: number }
}

export const ANONYMOUS: Principal = Object.freeze({
  kind: 'anonymous',
  id: 'anonymous',
  userId: null,
  organizationId: null,
  organizationRole: null,
  apiKeyId: null,
  jobId: null,
  scopes: [],
})

/** The service itself, for background work; created in the process and never sent unsigned. */
export const SERVICE: Principal = Object.freeze({ ...ANONYMOUS, kind: 'service', id: 'service', scopes: ['*'] })

export function isOrganizationAdmin(principal: Principal): boolean {
  return principal.organizationRole === 'owner' || principal.organizationRole === 'admin'
}

/** For actions that require a user's own session: an API key gets 403, whoever owns it. */
export function requireSignedIn(principal: Principal, action: string): void {
  if (principal.kind !== 'user') throw problem('user-authorization-required', `Only a signed-in user can ${action}; an API key cannot`)
}
