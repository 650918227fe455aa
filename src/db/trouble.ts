/** Database failures that no caller caused and no immediate retry fixes. */
import { sql } from 'kysely'
import type { Db } from './tables.ts'

/** No connection is available: the server is down, starting or unreachable. */
export class DatabaseUnavailable extends Error {}

/** SQLSTATE for a full disk. */
const DISK_FULL = '53100'

export const isDiskFull = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === DISK_FULL

/** More than the free space that a write could still find; it is never kept. */
const PROBE_ROWS = 10_000

export interface DiskSpace {
  /** Checks whether an error means that the disk is full. */
  notice(error: unknown): void
  /** Whether a write found the disk full and it still is. Queries the database only then. */
  isExhausted(): Promise<boolean>
}

/** Remembers that the database's disk was full, until space is available again. */
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

/** A temporary table uses space on the same disk and leaves no trace. */
async function isDiskExhausted(db: Db): Promise<boolean> {
  try {
    await db.transaction().execute(async (tx) => {
      await sql`create temporary table room_probe on commit drop as
        select md5(n::text) from generate_series(1, ${sql.lit(PROBE_ROWS)}) n`.execute(tx)
    })
    return false
  } catch {
    return true // Full or unavailable: no traffic either way.
  }
}
