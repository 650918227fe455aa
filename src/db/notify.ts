import { sql } from 'kysely'
import type pg from 'pg'
import { Listener } from './listener.ts'
import type { Db } from './tables.ts'

const APPLICATION_NAME = 'groundtrack commits'

/** Listens on a channel with its own connection; `onNotify` is also called after a reconnect, because some may have been missed. */
export type Listen = (channel: string, onNotify: () => void) => Subscription

interface Subscription {
  /** Whether notifications arrive now. */
  isReceiving(): boolean
  close(): Promise<void>
}

export function listening(connection: pg.ClientConfig): Listen {
  return (channel, onNotify) => {
    const listener = new Listener({ connection, applicationName: APPLICATION_NAME, channel, hear: onNotify, opened: onNotify })
    return { isReceiving: () => listener.isReceiving, close: () => listener.close() }
  }
}

/** Notifies the listeners of a channel in all processes. */
export async function notify(db: Db, channel: string): Promise<void> {
  await sql`select pg_notify(${channel}, '')`.execute(db)
}
