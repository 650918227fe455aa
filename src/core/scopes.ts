import type { Principal } from './principal.ts'

/** Every resource that a scope can name, except the privileged ones. */
export const RESOURCES = [
  'alerts',
  'analytics',
  'api_keys',
  'band_formulas',
  'billing',
  'catalog',
  'collections',
  'eulas',
  'event_subscriptions',
  'items',
  'notifications',
  'orders',
  'organizations',
  'processing',
  'projects',
  'provenance',
  'reports',
  'shares',
  'tiles',
  'uploads',
  'usage',
] as const

/** Require an explicit scope or `*`; an action wildcard such as `*:read` does not include them. */
export const PRIVILEGED_RESOURCES = ['admin', 'clip'] as const

export const ACTIONS = ['read', 'write', 'process', 'destroy'] as const
export const PERMISSIONS = ['read', 'write', 'process'] as const

export const isPrivileged = (resource: string) => (PRIVILEGED_RESOURCES as readonly string[]).includes(resource)

export function satisfies(held: readonly string[], required: string): boolean {
  const [resource, action] = required.split(':') as [string, string]
  return held.some((scope) => {
    if (scope === '*' || scope === required || scope === `${resource}:*`) return true
    return scope === `*:${action}` && !isPrivileged(resource)
  })
}

const USER_SCOPES: readonly string[] = RESOURCES.map((resource) => `${resource}:*`)

export function userScopes(user: { isSystemAdmin: boolean; isClipUser: boolean }): readonly string[] {
  if (user.isSystemAdmin) return [...USER_SCOPES, 'admin:*', 'clip:*']
  if (user.isClipUser) return [...USER_SCOPES, 'clip:*']
  return USER_SCOPES
}

/** A key without permissions can still read; writing and processing include reading. */
export function keyScopes(permissions: readonly string[], explicit: readonly string[]): readonly string[] {
  const actions = PERMISSIONS.filter((permission) => permission === 'read' || permissions.includes(permission))
  return [...actions.map((action) => `*:${action}`), ...explicit]
}

/** A key can only pass on its own permissions. */
export function grantsAtMost(principal: Principal, permissions: readonly string[]): boolean {
  return permissions.every((permission) => permission === 'read' || principal.scopes.includes(`*:${permission}`))
}

/** Scopes that the operator can store on a key: never `*`, never `admin`. */
export function isStorableScope(scope: string): boolean {
  const [resource, action, rest] = scope.split(':')
  const resources = [...RESOURCES, 'clip'] as readonly string[]
  return rest === undefined && resources.includes(resource ?? '') && ['*', ...ACTIONS].includes(action ?? '')
}
