/** Which roles the claims of a person give. Claims come from a provider that anyone may run, so their shape is never assumed. */
import type { InvitedRole, ProjectRole } from './vocabulary.ts'

/** If the claim has this value, the person has this role in the organization, and in the project if there is one. */
export interface RoleRule {
  readonly value: string
  readonly role: InvitedRole
  readonly project_id?: string
  readonly project_role?: ProjectRole
}

/** Roles in the organization and in projects that the rules name; a null role: no access. */
export interface GivenRoles {
  readonly role: InvitedRole | null
  readonly projects: ReadonlyMap<string, ProjectRole>
}

interface RoleRules {
  readonly roleClaim: string | null
  readonly roleRules: readonly RoleRule[]
  readonly defaultRole: InvitedRole | null
}

type Claims = Readonly<Record<string, unknown>>

const LADDER: readonly ProjectRole[] = ['viewer', 'editor', 'admin']
/** Providers list groups; more than this is no list of groups. */
const MAX_VALUES = 1_000

export function givenRoles({ roleClaim, roleRules, defaultRole }: RoleRules, claims: Claims): GivenRoles {
  if (roleClaim === null) return { role: defaultRole, projects: new Map() }
  const values = new Set(valuesOf(claims, roleClaim))
  const matching = roleRules.filter(({ value }) => values.has(value))
  const projects = new Map<string, ProjectRole>()
  for (const { project_id, project_role } of matching) {
    if (project_id === undefined || project_role === undefined) continue
    const held = projects.get(project_id)
    if (held === undefined || LADDER.indexOf(project_role) > LADDER.indexOf(held)) projects.set(project_id, project_role)
  }
  if (matching.length === 0) return { role: defaultRole, projects }
  return { role: matching.some(({ role }) => role === 'admin') ? 'admin' : 'member', projects }
}

/**
 * The values of a claim: text, a list of texts, or text in an object (`realm_access.roles`, as Keycloak writes it). A claim whose own
 * name has dots, such as a URL, is found first. Other values count for nothing.
 */
function valuesOf(claims: Claims, name: string): string[] {
  const found = Object.hasOwn(claims, name) ? claims[name] : nested(claims, name.split('.'))
  const list = Array.isArray(found) ? found.slice(0, MAX_VALUES) : [found]
  return list.filter((value) => typeof value === 'string')
}

function nested(claims: Claims, path: readonly string[]): unknown {
  let value: unknown = claims
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = (value as Claims)[part]
  }
  return value
}
