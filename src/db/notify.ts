import { sql } from 'kysely'
import type pg from 'pg'
import { Listener } from './listener.ts'
import type { Db } from './tables.ts'

const APPLICATION_NAME = 'groundtrack commits'

/** Hears a channel on a connection of its own; `told` is also called when a lost one is back, for what was missed. */
export type Listen = (channel: string, told: () => void) => { close(): Promise<void> }

export function listening(connection: pg.ClientConfig): Listen {
  return (channel, told) => new Listener({ connection, applicationName: APPLICATION_NAME, channel, hear: told, opened: told })
}

/** Tells whoever listens on the channel, in whichever process. */
export async function notify(db: Db, channel: string): Promise<void> {
  await sql`select pg_notify(${channel}, '')`.execute(db)
}
