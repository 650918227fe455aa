/** Everything that an installation contains, to compare two of them: the rows of every table, and the SHA-256 of every object. */
import { createHash } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import type { Storage } from '#ports/storage.ts'

export interface Whole {
  /** By table, sorted. */
  rows: Map<string, string[]>
  /** By bucket and key. */
  objects: Map<string, string>
}

/** Rows as PostgreSQL writes them, by its own catalogue of tables, so that nothing depends on the code that is tested. */
export async function rowsOf(connection: pg.ClientConfig): Promise<Map<string, string[]>> {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    await client.query('set timezone = UTC')
    const { rows: tables } = await client.query<{ name: string }>(`
      select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p') and not c.relispartition and n.nspname not in ('pg_catalog', 'information_schema') order by 1`)
    const all = new Map<string, string[]>()
    for (const { name } of tables) {
      const { rows } = await client.query<{ line: string }>(`select t::text as line from ${name} t`)
      all.set(name, rows.map(({ line }) => line).toSorted())
    }
    return all
  } finally {
    await client.end()
  }
}

/** Whether a query has a result: for waiting, which must not read everything again and again. */
export async function exists(connection: pg.ClientConfig, query: string): Promise<boolean> {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    return (await client.query(query)).rows.length > 0
  } finally {
    await client.end()
  }
}

export async function objectsOf(storage: Storage, buckets: readonly string[]): Promise<Map<string, string>> {
  const all = new Map<string, string>()
  for (const bucket of buckets) {
    let cursor: string | null = null
    do {
      const page = await storage.list(bucket, { cursor })
      for (const { key } of page.objects) {
        const hash = createHash('sha256')
        await pipeline(await storage.read({ bucket, key }), hash)
        all.set(`${bucket}/${key}`, `${(await storage.stat({ bucket, key }))!.contentType} ${hash.digest('hex')}`)
      }
      cursor = page.next
    } while (cursor !== null)
  }
  return all
}
