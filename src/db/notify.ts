import { sql } from 'kysely'
import type pg from 'pg'
import { Listener } from './listener.ts'
import type { Db } from './tables.ts'

const APPLICATION_NAME = 'groundtrack commits'

/** Listens on a channel with its own connection; `onNotify` is also called after a reconnect, because notifications may have been missed. */
export type Listen = (channel: string, onNotify: () => void) => { close(): Promise<void> }

export function listening(connection: pg.ClientConfig): Listen {
  return (channel, onNotify) => new Listener({ connection, applicationName: APPLICATION_NAME, channel, hear: onNotify, opened: onNotify })
}

/** Notifies the listeners of a channel in all processes. */
export async function notify(db: Db, channel: string): Promise<void> {
  await sql`select pg_notify(${channel}, '')`.execute(db)
}
