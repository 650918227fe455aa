/**
 * The state of the sandbox processor, in a separate schema: several processes serve the same cards, and a restart loses
 * nothing.
 */
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Db, Tx } from '#db/tables.ts'

/** An object of the protocol, as returned. */
export interface Stored {
  id: string
  object: string
  [field: string]: unknown
}

export interface Notice {
  id: string
  body: string
}

export async function createSchema(db: Db): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended('sandbox_payments', 0))`.execute(tx)
    await sql`
      create schema if not exists sandbox_payments;
      create table if not exists sandbox_payments.object (
        id text primary key, seq bigint generated always as identity, kind text not null, body jsonb not null);
      create table if not exists sandbox_payments.replay (
        key text primary key, fingerprint text not null, status integer not null, body jsonb not null);
      create table if not exists sandbox_payments.notice (
        id text primary key, seq bigint generated always as identity, body text not null,
        attempts integer not null default 0, delivered boolean not null default false);
    `.execute(tx)
  })
}

/** What a request can do, in one transaction. */
export interface Session {
  /** Locked until the request ends; null if it does not exist. */
  find(id: string): Promise<Stored | null>
  save(body: Stored): Promise<void>
  listInvoices(customer: string, limit: number): Promise<Stored[]>
  lines(invoice: string): Promise<Stored[]>
  notify(type: string, about: Stored): Promise<void>
}

export interface Answer {
  status: number
  body: object
}

export const newKey = (prefix: string) => `${prefix}_${randomBytes(12).toString('hex')}`

/** Runs a request once per idempotency key; a repeated one gets the first response, including a refusal. */
export async function withSession(
  db: Db,
  replay: { key: string; fingerprint: string } | null,
  work: (session: Session) => Promise<Answer>,
): Promise<{ answer: Answer; notices: Notice[] }> {
  const notices: Notice[] = []
  const answer = await db.transaction().execute(async (tx) => {
    if (replay) {
      await sql`select pg_advisory_xact_lock(hashtextextended(${`sandbox ${replay.key}`}, 0))`.execute(tx)
      const known = (
        await sql<{
          fingerprint: string
          status: number
          body: object
        }>`select fingerprint, status, body from sandbox_payments.replay where key = ${replay.key}`.execute(tx)
      ).rows[0]
      if (known && known.fingerprint !== replay.fingerprint)
        return {
          status: 400,
          body: {
            error: {
              type: 'idempotency_error',
              message: 'Keys for idempotent requests can only be used with the same parameters they were first used with.',
            },
          },
        }
      if (known) return { status: known.status, body: known.body }
    }
    const answer = await work(sessionOf(tx, notices))
    if (replay)
      await sql`
        insert into sandbox_payments.replay (key, fingerprint, status, body)
        values (${replay.key}, ${replay.fingerprint}, ${answer.status}, ${JSON.stringify(answer.body)})`.execute(tx)
    return answer
  })
  return { answer, notices }
}

function sessionOf(tx: Tx, notices: Notice[]): Session {
  const rows = async (query: ReturnType<typeof sql<{ body: Stored }>>) => (await query.execute(tx)).rows.map(({ body }) => body)
  return {
    find: async (id) =>
      (await rows(sql<{ body: Stored }>`select body from sandbox_payments.object where id = ${id} for update`))[0] ?? null,
    async save(body) {
      await sql`
        insert into sandbox_payments.object (id, kind, body) values (${body.id}, ${body.object}, ${JSON.stringify(body)})
        on conflict (id) do update set body = excluded.body`.execute(tx)
    },
    listInvoices: (customer, limit) =>
      rows(
        sql<{ body: Stored }>`
          select body from sandbox_payments.object where kind = 'invoice' and body->>'customer' = ${customer}
          order by seq desc limit ${limit}`,
      ),
    lines: (invoice) =>
      rows(
        sql<{
          body: Stored
        }>`select body from sandbox_payments.object where kind = 'invoiceitem' and body->>'invoice' = ${invoice} order by seq`,
      ),
    async notify(type, about) {
      const id = newKey('evt')
      const body = JSON.stringify({
        id,
        object: 'event',
        type,
        created: Math.floor(Date.now() / 1000),
        livemode: false,
        data: { object: about },
      })
      await sql`insert into sandbox_payments.notice (id, body) values (${id}, ${body})`.execute(tx)
      notices.push({ id, body })
    },
  }
}

export async function undelivered(db: Db, maxAttempts: number, limit: number): Promise<Notice[]> {
  const { rows } = await sql<Notice>`
    select id, body from sandbox_payments.notice where not delivered and attempts < ${maxAttempts}
    order by seq limit ${limit}`.execute(db)
  return rows
}

export async function noteDelivery(db: Db, id: string, delivered: boolean): Promise<void> {
  await sql`update sandbox_payments.notice set attempts = attempts + 1, delivered = delivered or ${delivered} where id = ${id}`.execute(db)
}
