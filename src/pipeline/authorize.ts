import type { Principal } from '#core/principal.ts'
import { accessDenied, problem } from '#core/problem.ts'
import { isPrivileged, PERMISSIONS, satisfies } from '#core/scopes.ts'
import type { AnyOperation } from '#operation.ts'

/** Stage 2. Public operations run without a credential, so there is no scope to hold. */
export function requireScope(principal: Principal, op: Pick<AnyOperation, 'id' | 'scope' | 'public' | 'callableByWorkers'>): void {
  if (op.public) return
  if (!satisfies(principal.scopes, op.scope)) {
    throw problem('missing-scope', `Missing required scope '${op.scope}' for operation '${op.id}'`, {
      members: { required_scope: op.scope, ...remedyOf(principal, op) },
      headers: { 'WWW-Authenticate': `Bearer realm="svc", error="insufficient_scope", scope="${op.scope}"` },
    })
  }
  if (principal.kind === 'worker' && !op.callableByWorkers) throw accessDenied()
}

/** Names the permission that a new API key needs; a key's scopes follow from its permissions. */
function remedyOf({ kind }: Principal, { scope }: Pick<AnyOperation, 'scope'>): { remedy?: string } {
  const action = scope.split(':')[1]!
  if (kind !== 'api_key' || !(PERMISSIONS as readonly string[]).includes(action) || isPrivileged(scope.split(':')[0]!)) return {}
  return { remedy: `Use a key with the permission '${action}'; create one with api_keys.create` }
}
