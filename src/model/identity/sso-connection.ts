/** The provider that the members of an organization sign in at. Its secret is encrypted with a key outside the database. */
import { sql } from 'kysely'
import type { RoleRule } from '#core/role-rules.ts'
import type { Seal } from '#core/seal.ts'
import type { InvitedRole, SsoStatus } from '#core/vocabulary.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { Provider } from '#ports/sso.ts'

const COLUMNS = [
  'org_id as organizationId',
  'issuer',
  'client_id as clientId',
  'name',
  'scopes',
  'role_claim as roleClaim',
  'role_rules as roleRules',
  'default_role as defaultRole',
  'session_hours as sessionHours',
  'status',
  'detail',
  'checked_at as checkedAt',
  'updated_at as updatedAt',
] as const

export type Connection = Row<'sso_connection', typeof COLUMNS> & { hasSecret: boolean }

const HAS_SECRET = sql<boolean>`secret is not null`.as('hasSecret')

/** The value is bound to its row: copied to another one, it cannot be decrypted. */
const about = (organizationId: string): string => `sso connection ${organizationId}`

export async function find(db: Db, organizationId: string): Promise<Connection | null> {
  const row = await db
    .selectFrom('sso_connection')
    .select([...COLUMNS, HAS_SECRET])
    .where('org_id', '=', organizationId)
    .executeTakeFirst()
  return row ?? null
}

/** How we are known at the provider, with the secret. */
export async function findProvider(
  db: Db,
  seal: Seal,
  organizationId: string,
): Promise<{ connection: Connection; provider: Provider } | null> {
  const connection = await find(db, organizationId)
  if (!connection) return null
  const { issuer, clientId, scopes } = connection
  return { connection, provider: { issuer, clientId, scopes, clientSecret: await secretOf(db, seal, organizationId) } }
}

async function secretOf(db: Db, seal: Seal, organizationId: string): Promise<string | null> {
  const row = await db.selectFrom('sso_connection').select('secret').where('org_id', '=', organizationId).executeTakeFirst()
  if (!row || row.secret === null) return null
  const secret = seal.open(row.secret, about(organizationId))
  if (secret === null) throw new Error('an SSO connection was encrypted with another key: SECRETS_KEY or secrets.key has changed')
  return secret
}

interface CheckResult {
  readonly status: SsoStatus
  readonly detail: string | null
}

export interface NewConnection extends CheckResult {
  readonly organizationId: string
  readonly issuer: string
  readonly clientId: string
  /** Undefined keeps the stored one. */
  readonly clientSecret: string | null | undefined
  readonly name: string
  readonly scopes: string
  readonly roleClaim: string | null
  readonly roleRules: readonly RoleRule[]
  readonly defaultRole: InvitedRole | null
  readonly sessionHours: number
  readonly createdBy: string | null
}

export async function put(tx: Tx, seal: Seal, connection: NewConnection, now: Date): Promise<Connection> {
  const { organizationId, clientSecret } = connection
  const secret =
    clientSecret === undefined ? {} : { secret: clientSecret === null ? null : seal.close(clientSecret, about(organizationId)) }
  const values = {
    issuer: connection.issuer,
    client_id: connection.clientId,
    name: connection.name,
    scopes: connection.scopes,
    role_claim: connection.roleClaim,
    role_rules: JSON.stringify(connection.roleRules),
    default_role: connection.defaultRole,
    session_hours: connection.sessionHours,
    status: connection.status,
    detail: connection.detail,
    checked_at: now,
    updated_at: now,
    ...secret,
  }
  return await tx
    .insertInto('sso_connection')
    .values({ org_id: organizationId, created_by: connection.createdBy, created_at: now, ...values })
    .onConflict((conflict) => conflict.column('org_id').doUpdateSet(values))
    .returning([...COLUMNS, HAS_SECRET])
    .executeTakeFirstOrThrow()
}

/** Stores what the check found. Returns null if the connection was deleted. */
export async function setStatus(tx: Tx, organizationId: string, { status, detail }: CheckResult, now: Date): Promise<Connection | null> {
  const row = await tx
    .updateTable('sso_connection')
    .set({ status, detail, checked_at: now })
    .where('org_id', '=', organizationId)
    .returning([...COLUMNS, HAS_SECRET])
    .executeTakeFirst()
  return row ?? null
}

/** Deletes the connection and forgets whom its provider knows. Returns false if there was none. */
export async function remove(tx: Tx, organizationId: string): Promise<boolean> {
  await tx.deleteFrom('sso_identity').where('org_id', '=', organizationId).execute()
  const result = await tx.deleteFrom('sso_connection').where('org_id', '=', organizationId).executeTakeFirst()
  return result.numDeletedRows === 1n
}
