/** Database failures that no caller caused and no immediate retry fixes. */
import { sql } from 'kysely'
import pg from 'pg'
import type { Db } from './tables.ts'

/** The database does not answer, or its connection was lost; `cause` is the original error. */
export class DatabaseUnavailable extends Error {
  /** Whether the same work can succeed at once on another connection: not if the database did not answer in time. */
  readonly isRetryable: boolean
  /** The connection was lost during a commit, so the change may have been saved. */
  readonly isCommitUnknown: boolean

  constructor(message: string, options: { cause?: unknown; isRetryable?: boolean; isCommitUnknown?: boolean } = {}) {
    super(message, { cause: options.cause })
    this.isRetryable = options.isRetryable ?? false
    this.isCommitUnknown = options.isCommitUnknown ?? false
  }
}

/**
 * SQLSTATEs of a server that is shutting down, starting or read-only after a failover, or that accepts no more connections. Class 08 is
 * about connections; PgBouncer uses it when its own connection to the server fails.
 */
const UNAVAILABLE = /^(57P0\d|25006|53300|25P03|08\w{3})$/
/** SQLSTATEs of a statement that was given up: cancelled by its deadline, or because of the locks of others. */
const GIVEN_UP = new Set(['57014', '55P03', '40001', '40P01'])
/** SQLSTATE for a full disk. */
const DISK_FULL = '53100'

const codeOf = (error: unknown): unknown => (error as { code?: unknown } | null)?.code

/** Whether an error of the server means that its connection, or the server itself, can no longer be used. */
export const isServerUnavailable = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && (error.severity === 'FATAL' || error.severity === 'PANIC' || UNAVAILABLE.test(error.code ?? ''))

/** Whether a statement took too long or waited for locks in vain; its transaction was rolled back and can be repeated. */
export const isGivenUp = (error: unknown): boolean => error instanceof pg.DatabaseError && GIVEN_UP.has(error.code ?? '')

/** SQLSTATE of a write to a database that is read-only. */
const READ_ONLY = '25006'

export const isReadOnly = (error: unknown): boolean => error instanceof DatabaseUnavailable && codeOf(error.cause) === READ_ONLY

export const isDiskFull = (error: unknown): boolean => codeOf(error) === DISK_FULL

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
      await sql`create temporary table space_probe on commit drop as
        select md5(n::text) from generate_series(1, ${sql.lit(PROBE_ROWS)}) n`.execute(tx)
    })
    return false
  } catch {
    return true // Full or unavailable: no traffic either way.
  }
}
