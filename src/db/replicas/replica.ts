/** One replica: its connections, how far it is, and whether it is used. */
import { sql } from 'kysely'
import pg from 'pg'
import { batcher } from '#core/batcher.ts'
import { asPlatform } from '#core/tenant.ts'
import { DatabaseUnavailable } from '#db/failures.ts'
import type { Database } from '#db/open.ts'
import type { Db } from '#db/tables.ts'
import { parseLsn, type Lsn } from './lsn.ts'
import type { Positions } from './positions.ts'

/** One line for the operator each. */
export interface ReplicaLog {
  info(line: string): void
  warn(line: string): void
}

interface ReplicaOptions {
  /** For the log: without user and password. */
  name: string
  database: Database
  positions: Positions
  maxLagMs: number
  /** How long a probe waits for an answer. */
  probeMs: number
  log: ReplicaLog
}

interface State {
  isReplica: boolean
  replayed: string | null
  hasMark: boolean
}

/** So many good probes in a row put a replica back into use; one bad one sets it aside. */
const PROBES_IN_A_ROW = 2
/** How long a read waits for a replica to say how far it is; then it uses the primary. */
const POSITION_MS = 250

export interface ReplicaState {
  readonly name: string
  readonly isUsed: boolean
  readonly lagSeconds: number
  readonly connections: number
  /** Reads that it served, and those that were repeated on the primary because it failed. */
  readonly reads: number
  readonly repeated: number
}

export class Replica {
  readonly #options: ReplicaOptions
  readonly #refresh: (question: null) => Promise<void>
  /** Why it is not used; null if it is. */
  #problem: string | null = 'not probed yet'
  #goodProbes = 0
  #isProbing = false
  #replayed: Lsn = -1n
  #lagMs = 0
  /** Reads that it served, and those that were repeated on the primary because it failed. */
  readonly counts = { reads: 0, repeated: 0 }

  constructor(options: ReplicaOptions) {
    this.#options = options
    this.#refresh = batcher(
      async (questions: readonly null[]) => {
        const { rows } = await sql<{ replayed: string | null }>`select pg_last_wal_replay_lsn()::text as replayed`.execute(this.db)
        this.#note(rows[0]!.replayed)
        return questions.map(() => {})
      },
      { maxKeys: 10_000, maxInFlight: 1 },
    )
  }

  get db(): Db {
    return this.#options.database.db
  }

  get isUsed(): boolean {
    return this.#problem === null
  }

  get lagSeconds(): number {
    return this.#lagMs / 1_000
  }

  get state(): ReplicaState {
    const { name, database } = this.#options
    return { name, isUsed: this.isUsed, lagSeconds: this.lagSeconds, connections: database.connectionCount(), ...this.counts }
  }

  hasReplayed(lsn: Lsn): boolean {
    return this.isUsed && this.#replayed >= lsn
  }

  /** The same, asking the replica if it had not when it was last asked. */
  async reaches(lsn: Lsn): Promise<boolean> {
    if (!this.hasReplayed(lsn)) await withinMs(POSITION_MS, this.#refresh(null)).catch(() => {})
    return this.hasReplayed(lsn)
  }

  /** Runs a read here; null if the replica failed, so that the read must be repeated on the primary. */
  async attempt<T>(read: (db: Db) => Promise<T>): Promise<{ value: T } | null> {
    try {
      const value = await read(this.db)
      this.counts.reads++
      return { value }
    } catch (error) {
      const isLost = error instanceof DatabaseUnavailable
      if (!isLost && !(error instanceof pg.DatabaseError)) throw error
      this.counts.repeated++
      if (isLost) this.setAside(error.message) // Otherwise only this read failed, for example because replay cancelled it.
      return null
    }
  }

  /** Finds out whether it can be used. */
  async probe(mark: string): Promise<void> {
    if (this.#isProbing) return this.setAside('it does not answer') // Another question would only hold another connection.
    try {
      const problem = this.#problemOf(await withinMs(this.#options.probeMs, this.#ask(mark)))
      if (problem === null) this.#approve()
      else this.setAside(problem)
    } catch (error) {
      this.setAside(error instanceof Error ? error.message : String(error))
    }
  }

  /** Until probes succeed again. */
  setAside(problem: string): void {
    this.#goodProbes = 0
    if (this.isUsed) this.#options.log.warn(`Replica ${this.#options.name} is not used: ${problem}`)
    this.#problem = problem
  }

  async close(): Promise<void> {
    await this.#options.database.close()
  }

  async #ask(mark: string): Promise<State> {
    this.#isProbing = true
    try {
      const { rows } = await asPlatform(() =>
        sql<State>`
          select pg_is_in_recovery() as "isReplica", pg_last_wal_replay_lsn()::text as replayed,
            exists (select 1 from replica_mark where id = nullif(${mark}, '')::uuid) as "hasMark"
        `.execute(this.db),
      )
      return rows[0]!
    } finally {
      this.#isProbing = false
    }
  }

  #problemOf({ isReplica, replayed, hasMark }: State): string | null {
    if (!isReplica) return 'it is not a replica, or was promoted'
    this.#note(replayed)
    if (!hasMark) return 'it has not replayed the latest changes of this primary, or is a replica of another'
    const { maxLagMs } = this.#options
    return this.#lagMs > maxLagMs ? `it is ${Math.round(this.lagSeconds)} s behind the primary` : null
  }

  #note(replayed: string | null): void {
    this.#replayed = replayed === null ? -1n : parseLsn(replayed)
    this.#lagMs = this.#options.positions.lagMs(this.#replayed, performance.now())
  }

  #approve(): void {
    if (this.isUsed || ++this.#goodProbes < PROBES_IN_A_ROW) return
    this.#problem = null
    this.#options.log.info(`Replica ${this.#options.name} is used for reads`)
  }
}

/** Rejects after this time, whatever becomes of the work. */
export async function withinMs<T>(ms: number, work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
