/** The state of the sandbox vendors, in a separate schema: a restart loses nothing. */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from '#db/tables.ts'

export interface Kept<B> {
  readonly id: string
  readonly host: string
  readonly reference: string
  readonly createdAt: Date
  readonly cancelledAt: Date | null
  readonly body: B
}

export type Kind = 'order' | 'study' | 'quotation'

export async function createSchema(db: Db): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended('sandbox_vendors', 0))`.execute(tx)
    await sql`
      create schema if not exists sandbox_vendors;
      create table if not exists sandbox_vendors.request (
        id uuid primary key, host text not null, kind text not null, reference text not null, body jsonb not null,
        created_at timestamptz not null, cancelled_at timestamptz, unique (host, kind, reference));
    `.execute(tx)
  })
}

const COLUMNS = sql.raw('id, host, reference, created_at as "createdAt", cancelled_at as "cancelledAt", body')

/** A repeated reference is the same request and returns the first one. */
export async function keep<B extends object>(
  db: Db,
  what: { host: string; kind: Kind; reference: string; body: B },
  now: Date,
): Promise<Kept<B>> {
  const { host, kind, reference, body } = what
  await sql`
    insert into sandbox_vendors.request (id, host, kind, reference, body, created_at)
    values (${randomUUID()}, ${host}, ${kind}, ${reference}, ${JSON.stringify(body)}, ${now}) on conflict do nothing`.execute(db)
  return (await findReference<B>(db, host, kind, reference))!
}

export async function findReference<B extends object>(db: Db, host: string, kind: Kind, reference: string): Promise<Kept<B> | null> {
  const { rows } = await sql<Kept<B>>`
    select ${COLUMNS} from sandbox_vendors.request where host = ${host} and kind = ${kind} and reference = ${reference}`.execute(db)
  return rows[0] ?? null
}

export async function find<B extends object>(db: Db, host: string, kind: Kind, id: string): Promise<Kept<B> | null> {
  const { rows } = await sql<Kept<B>>`
    select ${COLUMNS} from sandbox_vendors.request where host = ${host} and kind = ${kind} and id::text = ${id}`.execute(db)
  return rows[0] ?? null
}

export async function cancel(db: Db, id: string, now: Date): Promise<void> {
  await sql`update sandbox_vendors.request set cancelled_at = ${now} where id::text = ${id} and cancelled_at is null`.execute(db)
}
