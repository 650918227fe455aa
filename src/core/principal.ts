import { problem } from './problem.ts'
import type { OrganizationRole } from './vocabulary.ts'

type PrincipalKind = 'user' | 'api_key' | 'worker' | 'service' | 'anonymous'

/** Who calls. Everything an operation may decide on comes from here, never from the body. */
export interface Principal {
  readonly kind: PrincipalKind
  /** The credential's own identity: user, key or job id; 'service'; 'anonymous'. */
  readonly id: string
  /** The person whose roles and caps count: the user, the owner of the key, whom a service acts for; else null. */
  readonly userId: string | null
  readonly organizationId: string | null
  readonly organizationRole: OrganizationRole | null
  readonly apiKeyId: string | null
  /** The one job that a worker may report on. */
  readonly jobId: string | null
  readonly scopes: readonly string[]
  /** The approval under which this runs: it waives the person's spend caps up to its own ceiling. Only an approved purchase has one. */
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

/** The platform itself, for background work; it is built in the process and never travels unsigned. */
export const SERVICE: Principal = Object.freeze({ ...ANONYMOUS, kind: 'service', id: 'service', scopes: ['*'] })

export function isOrganizationAdmin(principal: Principal): boolean {
  return principal.organizationRole === 'owner' || principal.organizationRole === 'admin'
}

/** For what only a person can decide, by their own session: a key gets 403, whoever owns it. */
export function requireSignedIn(principal: Principal, action: string): void {
  if (principal.kind !== 'user') throw problem('user-authorization-required', `Only a signed-in user can ${action}; an API key cannot`)
}
