import { sql, type PostgresPool, type PostgresPoolClient, type RawBuilder } from 'kysely'
import type pg from 'pg'
import { COPY, runCopy } from './copy.ts'

/** Texts beyond this many are sent unnamed: they are built from lists of varying length and would fill the server's memory. */
const MAX_NAMED_STATEMENTS = 500

/** Begins statements with conditions of a caller's: their texts are few in life, but somebody can make many, so they are named apart. */
export const FILTERED = '/* filtered */'
const MAX_NAMED_FILTERS = 60

/** Begins statements whose text differs with every filter: they are planned each time and take no name from the others. */
export const VARIOUS = '/* various */'

/** Ends statements whose rows come in parts: the loop is everybody's in between. Each part is a round trip. */
const IN_PARTS = '/* in parts */'
const ROWS_OF_A_PART = 100

/** For the end of a statement that gives as many rows at most. */
export const partsFor = (limit: number): RawBuilder<unknown> => sql.raw(limit > ROWS_OF_A_PART ? IN_PARTS : '')

/**
 * Lets every statement that Kysely sends be prepared once per connection and then only executed: parsing and planning
 * cost more than most of our look-ups. Names belong to texts, so a text has the same name on every connection.
 */
export function prepared(pool: pg.Pool): PostgresPool {
  const [usual, filtered] = [new Map<string, string>(), new Map<string, string>()]
  const nameOf = (text: string): string | undefined => {
    const [names, kind, most] = text.startsWith(FILTERED) ? [filtered, 'f', MAX_NAMED_FILTERS] : [usual, 's', MAX_NAMED_STATEMENTS]
    const known = names.get(text)
    if (known || names.size >= most) return known
    const name = `gt_${kind}${names.size}`
    names.set(text, name)
    return name
  }
  /** Kysely keeps what it knows of a connection by its client, so a client always comes in the same wrapping. */
  const wrapped = new WeakMap<pg.PoolClient, PostgresPoolClient>()
  const wrap = (client: pg.PoolClient): PostgresPoolClient => {
    const known = wrapped.get(client)
    if (known) return known
    const query = <R extends pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<unknown> => {
      if (text.startsWith(COPY)) return runCopy(client, text, values![0] as Buffer)
      // Without parameters it may be several statements or BEGIN.
      const name = values?.length && !text.startsWith(VARIOUS) ? nameOf(text) : undefined
      const parts = text.endsWith(IN_PARTS) ? { rows: ROWS_OF_A_PART } : {}
      return client.query<R>({ ...(name ? { name } : {}), ...parts, text, values: values as unknown[] })
    }
    const made = { query, release: (error?: Error | boolean) => client.release(error) } as PostgresPoolClient
    wrapped.set(client, made)
    return made
  }
  return { connect: async () => wrap(await pool.connect()), end: () => pool.end() } as PostgresPool
}
