/** Settings of a connection, and how to find out whether it is a pooler's, where nothing can be set for longer than a transaction. */
import type pg from 'pg'

type Settings = readonly (readonly [name: string, value: string])[]

type Connected = pg.ClientBase & { processID?: number | null }

/**
 * Sets a connection's settings, if it is one of the server itself; returns whether it is. A pooler reports a process of its own, and
 * may give the server's connection to another client after each transaction: there nothing is set.
 */
export async function configureSession(client: pg.ClientBase, settings: Settings, timeoutMs: number): Promise<boolean> {
  const set = settings.map(([name, value]) => `set_config('${name}', '${value}', false)`)
  const { rowCount } = await client.query({
    text: `select ${set.join(', ')} where pg_backend_pid() = ${(client as Connected).processID ?? 0}`,
    query_timeout: timeoutMs,
  } as pg.QueryConfig)
  return rowCount === 1
}

export const localSettings = (settings: Settings): string => settings.map(([name, value]) => `set local ${name} = ${value}`).join('; ')
