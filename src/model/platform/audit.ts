import { sql } from 'kysely'
import type { Row } from '#db/row.ts'
import type { Db } from '#db/tables.ts'

export interface AuditEntry {
  invocationId: string
  organizationId: string | null
  principalKind: string
  principalId: string
  userId: string | null
  apiKeyId: string | null
  operation: string
  inputHash: Buffer | null
  status: number
  durationMs: number
  artifacts: readonly string[]
  at: Date
  /** The calls that the entry stands for; more than one for reads that are recorded together. */
  calls: number
  /** What was read, of reads that are recorded together. */
  subject: string | null
}

/** One statement for any number of entries; a repeat after a lost connection adds nothing. */
export async function write(db: Db, entries: readonly AuditEntry[]): Promise<void> {
  const column = <K extends keyof AuditEntry>(name: K) => entries.map((entry) => entry[name])
  const artifacts = entries.map((entry) => JSON.stringify(entry.artifacts)) // PostgreSQL has no ragged arrays of arrays.
  await sql`
    insert into audit (invocation_id, org_id, principal_kind, principal_id, user_id, api_key_id, operation, input_hash, status,
      duration_ms, artifacts, at, calls, subject)
    select invocation_id, org_id, principal_kind, principal_id, user_id, api_key_id, operation,
      input_hash, status, duration_ms,
      array(select jsonb_array_elements_text(artifacts::jsonb)), at, calls, subject
    from unnest(${column('invocationId')}::uuid[], ${column('organizationId')}::uuid[], ${column('principalKind')}::text[],
      ${column('principalId')}::text[],
      ${column('userId')}::uuid[], ${column('apiKeyId')}::uuid[], ${column('operation')}::text[], ${column('inputHash')}::bytea[],
      ${column('status')}::int[], ${column('durationMs')}::int[], ${artifacts}::text[], ${column('at')}::timestamptz[],
      ${column('calls')}::int[], ${column('subject')}::text[])
      as e (invocation_id, org_id, principal_kind, principal_id, user_id, api_key_id, operation,
        input_hash, status, duration_ms, artifacts, at, calls, subject)
    on conflict do nothing
  `.execute(db)
}

interface AuditFilter {
  operation: string | null
  userId: string | null
  from: Date | null
  to: Date | null
  limit: number
  offset: number
}

const COLUMNS = [
  'invocation_id as invocationId',
  'at',
  'operation',
  'principal_kind as principalKind',
  'principal_id as principalId',
  'user_id as userId',
  'api_key_id as apiKeyId',
  'input_hash as inputHash',
  'status',
  'duration_ms as durationMs',
  'artifacts',
  'calls',
  'subject',
] as const

export async function list(db: Db, organizationId: string, filter: AuditFilter): Promise<Row<'audit', typeof COLUMNS>[]> {
  return await db
    .selectFrom('audit')
    .select(COLUMNS)
    .where('org_id', '=', organizationId)
    .$if(filter.operation !== null, (query) => query.where('operation', '=', filter.operation!))
    .$if(filter.userId !== null, (query) => query.where('user_id', '=', filter.userId!))
    .$if(filter.from !== null, (query) => query.where('at', '>=', filter.from!))
    .$if(filter.to !== null, (query) => query.where('at', '<', filter.to!))
    .orderBy('at', 'desc')
    .orderBy('invocation_id', 'desc')
    .limit(filter.limit)
    .offset(filter.offset)
    .execute()
}
