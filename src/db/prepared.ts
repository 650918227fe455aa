import { sql, type PostgresPool, type PostgresPoolClient, type RawBuilder } from 'kysely'
import type pg from 'pg'
import { isTracing, statementName, statementText, traced, type SpanOptions } from '#core/tracing.ts'
import { COPY, runCopy } from './copy.ts'
import type { PoolClient, SupervisedPool } from './supervised.ts'

/** Further statements are not named: they are built from lists of varying length and would fill the server's memory. */
const MAX_NAMED_STATEMENTS = 500

/** Prefix of statements with a caller's conditions: few in practice, but a caller can create many, so they have their own limit. */
export const FILTERED = '/* filtered */'
const MAX_NAMED_FILTERS = 60

/** Prefix of statements whose text differs with every filter: they are planned each time and not named. */
export const VARIOUS = '/* various */'

/** Suffix of statements whose rows are fetched in parts, each a round trip, so that the event loop is free in between. */
const IN_PARTS = '/* in parts */'
const ROWS_OF_A_PART = 100

/** The suffix for a statement with this limit. */
export const partsFor = (limit: number): RawBuilder<unknown> => sql.raw(limit > ROWS_OF_A_PART ? IN_PARTS : '')

interface Protocol {
  /** Whether statements are prepared under a name: not through a pooler that gives each transaction another connection. */
  isNamed: boolean
  /** Settings for each transaction, as SQL; null if the connection has them. */
  transactionSettings: () => string | null
}

/** The text of a statement, never its values. */
const statementSpan = (text: string): SpanOptions => ({
  kind: 'client',
  attributes: { 'db.system.name': 'postgresql', 'db.operation.name': statementName(text), 'db.query.text': statementText(text) },
})

/** Begins a transaction, without anything behind it. */
const BEGIN = /^(begin|start transaction)\b[^;]*$/

/**
 * Prepares every statement that Kysely sends once per connection and then only executes it: parsing and planning cost more than most of
 * our queries. A name belongs to a text, so a text has the same name on every connection.
 */
export function prepared(pool: SupervisedPool, { isNamed, transactionSettings }: Protocol): PostgresPool {
  const [usual, filtered] = [new Map<string, string>(), new Map<string, string>()]
  const nameOf = (text: string): string | undefined => {
    const [names, kind, most] = text.startsWith(FILTERED) ? [filtered, 'f', MAX_NAMED_FILTERS] : [usual, 's', MAX_NAMED_STATEMENTS]
    const existing = names.get(text)
    if (existing || names.size >= most) return existing
    const name = `gt_${kind}${names.size}`
    names.set(text, name)
    return name
  }
  /**
   * Names that a connection failed to prepare, for example because its transaction had been aborted. The server has forgotten them, but
   * PgBouncer considers them taken and ends a connection that prepares one again, so the statement stays without a name there.
   */
  const refused = new WeakMap<PoolClient, Set<string>>()
  const isRefused = (client: PoolClient, name: string): boolean => refused.get(client)?.has(name) ?? false
  const refuse = (client: PoolClient, name: string): void => {
    refused.set(client, (refused.get(client) ?? new Set()).add(name))
  }
  const send = async (client: PoolClient, text: string, values?: readonly unknown[]): Promise<unknown> => {
    if (text.startsWith(COPY)) return await runCopy(client, text, values![0] as Buffer)
    const settings = BEGIN.test(text) ? transactionSettings() : null
    if (settings) return await client.query(`${text}; ${settings}`)
    // Without parameters it can be several statements or BEGIN.
    const wanted = isNamed && values?.length && !text.startsWith(VARIOUS) ? nameOf(text) : undefined
    const name = wanted && !isRefused(client, wanted) ? wanted : undefined
    const parts = text.endsWith(IN_PARTS) ? { rows: ROWS_OF_A_PART } : {}
    try {
      return await client.query<pg.QueryResultRow>({ ...(name ? { name } : {}), ...parts, text, values: values as unknown[] })
    } catch (error) {
      const isPooled = transactionSettings() !== null
      if (name && isPooled && client.connection.parsedStatements[name] === undefined) refuse(client, name)
      throw error
    }
  }
  /** Kysely identifies a connection by its client, so a client always has the same wrapper. */
  const wrapped = new WeakMap<pg.PoolClient, PostgresPoolClient>()
  const wrap = (client: PoolClient): PostgresPoolClient => {
    const existing = wrapped.get(client)
    if (existing) return existing
    const run = (text: string, values?: readonly unknown[]) => pool.run(client, text, () => send(client, text, values))
    const query = (text: string, values?: readonly unknown[]) =>
      isTracing()
        ? traced(
            statementName(text),
            () => run(text, values),
            () => statementSpan(text),
          )
        : run(text, values)
    const wrapper = { query, release: (error?: Error | boolean) => pool.release(client, error) } as PostgresPoolClient
    wrapped.set(client, wrapper)
    return wrapper
  }
  return { connect: async () => wrap(await pool.connect()), end: () => pool.end() } as PostgresPool
}
