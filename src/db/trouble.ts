/** What a database can suffer from that no caller has caused and no retry of theirs mends at once. */
import { sql } from 'kysely'
import type { Db } from './tables.ts'

/** No connection could be had: the server is down, starting, or behind a wall. */
export class DatabaseAway extends Error {}

/** SQLSTATE of a disk without room. */
const DISK_FULL = '53100'

export const isDiskFull = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === DISK_FULL

/** More than any page that a write could still find free; it is never kept. */
const PROBE_ROWS = 10_000

export interface DiskSpace {
  /** Looks at an error for one that says that the disk is full. */
  notice(error: unknown): void
  /** Whether a write found no room and there is still none. Asks the database only then. */
  isExhausted(): Promise<boolean>
}

/** Remembers that the database had no room, until it has some again. */
export function watchDiskSpace(db: Db): DiskSpace {
  let wasFull = false
  return {
    notice(error) {
      if (isDiskFull(error)) wasFull = true
    },
    async isExhausted() {
      if (!wasFull) return false
      wasFull = await isDiskExhausted(db)
      return wasFull
    },
  }
}

/** A table that is gone with its transaction takes room on the same disk, and leaves no trace. */
async function isDiskExhausted(db: Db): Promise<boolean> {
  try {
    await db.transaction().execute(async (tx) => {
      await sql`create temporary table room_probe on commit drop as
        select md5(n::text) from generate_series(1, ${sql.lit(PROBE_ROWS)}) n`.execute(tx)
    })
    return false
  } catch {
    return true // Full, or away: no place for traffic either way.
  }
}
