/**
 * Up to which position of the write-ahead log a replica must have replayed, so that a caller finds there what it has written.
 *
 * After each commit and before its response, a process announces with `notify` whose data it changed and the position behind the commit.
 * Before each read, a process runs a statement on the connection that receives these announcements: PostgreSQL delivers what was notified
 * before it together with its answer. So a process knows of every write that was acknowledged, anywhere, before the read began, and
 * nobody waits for a process that does not respond. Changes of access rights are announced to everyone by triggers (migration 0045).
 */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type pg from 'pg'
import { batcher } from '#core/batcher.ts'
import { DatabaseUnavailable } from '#db/failures.ts'
import { Listener } from '#db/listener.ts'
import { ACCESS_CHANNEL, NOTICES_NAME } from '#db/notices.ts'
import type { Db } from '#db/tables.ts'
import { later, parseLsn, type Lsn } from './lsn.ts'
import type { Positions } from './positions.ts'

/** Each process that announces its writes has one connection with this name. */
const APPLICATION_NAME = 'groundtrack replicas'
const CHANNEL = 'groundtrack_write'
/** A notification has at most 8,000 bytes; each write concerns up to three IDs of 36. */
const ANNOUNCED = { maxKeys: 50, maxInFlight: 2 }
const ASKED = { maxKeys: 10_000, maxInFlight: 1 }
/** Beyond this, what was written last counts for everyone, so that memory stays bounded. */
const MAX_WRITERS = 50_000

/** Tables that decide what a caller can read. Credentials are checked on the primary; the rest is a conversation of processes. */
const OF_ACCESS = new Set(['app_user', 'organization', 'organization_member', 'project', 'project_member'])

const POSITION = 'select pg_current_wal_insert_lsn()::text as inserted, pg_current_wal_flush_lsn()::text as flushed'
/** A replica that has this row has the history of this primary, whatever its position: after a failover, positions can be of another. */
const MARK = `with gone as (delete from replica_mark m where not exists (select 1 from pg_stat_activity a where a.pid = m.pid))
  insert into replica_mark (id, pid) values ($1, pg_backend_pid())`
const SILENT_WRITERS = `select count(*) filter (where application_name = '${NOTICES_NAME}')::int as processes,
  count(*) filter (where application_name = '${APPLICATION_NAME}')::int as announcing
  from pg_stat_activity where datname = current_database()`

interface Reactions {
  /** Someone has written; caches may be stale. */
  write: () => void
  /** The connection to the primary was opened or replaced: nothing is known any more, perhaps because the primary is another. */
  reset: () => void
}

export class WriteLog {
  readonly #listener: Listener
  readonly #positions: Positions
  readonly #on: Reactions
  readonly #announce: (ids: readonly string[]) => Promise<void>
  readonly #ask: (question: null) => Promise<void>
  /** What was written before this connection was opened; null until it is known. */
  #floor: Lsn | null = null
  /** Where the last change of access rights is contained; while `heard` exceeds `covered`, its position is not known yet. */
  readonly #access = { heard: 0, covered: 0, lsn: 0n }
  readonly #lsnOf = new Map<string, Lsn>()
  #openings = 0
  #mark = ''

  constructor(db: Db, connection: pg.ClientConfig, positions: Positions, on: Reactions) {
    this.#positions = positions
    this.#on = on
    this.#announce = batcher(async (writes: readonly (readonly string[])[]) => {
      await announceOnce(db, [...new Set(writes.flat())])
      return writes.map(() => {})
    }, ANNOUNCED)
    this.#ask = batcher(async (questions: readonly null[]) => {
      await this.#learn()
      return questions.map(() => {})
    }, ASKED)
    this.#listener = new Listener({
      connection,
      applicationName: APPLICATION_NAME,
      channel: CHANNEL,
      alsoOn: [ACCESS_CHANNEL],
      hear: (payload, channel) => this.#hear(payload, channel),
      opened: () => this.#forget(),
    })
  }

  /** The row that replicas of this primary have; empty until the connection is open. */
  get mark(): string {
    return this.#floor === null ? '' : this.#mark
  }

  /** Tells all processes that the data of these organizations and users has changed. Only then can the change be acknowledged. */
  async announce(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.#announce(ids)
  }

  /** When it resolves, all writes are known that were acknowledged before it was called. Rejects while they cannot be known. */
  async catchUp(): Promise<void> {
    await this.#ask(null)
  }

  /** What a replica must have replayed for a caller with these IDs; null if that is not known. Call `catchUp` before. */
  requiredFor(ids: readonly string[]): Lsn | null {
    if (this.#floor === null || this.#access.heard > this.#access.covered) return null
    return ids.reduce((lsn, id) => later(lsn, this.#lsnOf.get(id) ?? 0n), later(this.#floor, this.#access.lsn))
  }

  /** Processes on this database that do not announce their writes: they have no replicas set, or are of an earlier version. */
  async silentWriters(): Promise<number> {
    const [row] = await this.#listener.query<{ processes: number; announcing: number }>(SILENT_WRITERS)
    return Math.max(0, row!.processes - row!.announcing)
  }

  async close(): Promise<void> {
    await this.#listener.close()
  }

  #forget(): void {
    this.#openings++
    this.#floor = null
    this.#lsnOf.clear()
    this.#positions.clear()
    this.#on.reset()
  }

  #hear(payload: string, channel: string): void {
    if (channel === ACCESS_CHANNEL) {
      if (!OF_ACCESS.has(payload)) return
      this.#access.heard++
    } else this.#remember(payload.split(' '))
    this.#on.write()
  }

  #remember([position, ...ids]: readonly string[]): void {
    const lsn = parseLsn(position!)
    for (const id of ids) this.#lsnOf.set(id, later(lsn, this.#lsnOf.get(id) ?? 0n))
    if (this.#lsnOf.size <= MAX_WRITERS || this.#floor === null) return
    this.#floor = [...this.#lsnOf.values()].reduce(later, this.#floor)
    this.#lsnOf.clear()
  }

  async #learn(): Promise<void> {
    const opening = this.#openings
    if (this.#floor === null) {
      this.#mark = randomUUID()
      await this.#listener.query(MARK, [this.#mark])
    }
    const { heard } = this.#access
    const atMs = performance.now()
    const [position] = await this.#listener.query<{ inserted: string; flushed: string }>(POSITION)
    if (opening !== this.#openings) throw new Error('the connection that receives notifications was replaced')
    const inserted = parseLsn(position!.inserted)
    this.#positions.add(atMs, parseLsn(position!.flushed))
    this.#floor ??= inserted
    if (heard > this.#access.covered) {
      this.#access.covered = heard
      this.#access.lsn = inserted
    }
  }
}

/** A write that cannot be announced cannot be acknowledged, because its caller might not find it on a replica. */
async function announceOnce(db: Db, ids: readonly string[]): Promise<void> {
  const notify = async (): Promise<unknown> =>
    await sql`select pg_notify(${CHANNEL}, pg_current_wal_insert_lsn()::text || ' ' || ${ids.join(' ')}::text)`.execute(db)
  try {
    await notify().catch(notify)
  } catch (cause) {
    throw new DatabaseUnavailable('a change was saved but could not be announced', { cause, isCommitUnknown: true })
  }
}
