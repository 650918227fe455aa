/** Replicas of the database, for reads that may see the data of others a few seconds late, and the caller's own never. */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { openDatabase, type Database } from '#db/open.ts'
import { Positions } from './positions.ts'
import { Replica, withinMs, type ReplicaLog, type ReplicaState } from './replica.ts'
import { WriteLog } from './write-log.ts'

export interface Replicas {
  /** A replica that has all that a caller with these IDs has written; null if the primary must be read. */
  choose(ids: readonly string[]): Promise<Replica | null>
  /** Call after each commit and before its response, with the organizations and users whose data has changed. */
  announce(ids: readonly string[]): Promise<void>
  /** Calls this for every change that is heard of, of any process: caches may be stale. */
  onWrite(listener: () => void): void
  /** For metrics. */
  states(): ReplicaState[]
  close(): Promise<void>
}

interface ReplicasOptions {
  urls: readonly string[]
  maxLagSeconds: number
  pools: { maxConnections: number; maxSearchConnections: number; hasTransactionPooler: boolean }
  /** Makes deadlines so many times longer. */
  deadlineFactor?: number
  log: ReplicaLog
}

const PROBE_EVERY_MS = 500
const PROBE_MS = 1_000
/** How long a read waits to learn what it must see; then it uses the primary. */
const CATCH_UP_MS = 500
/** A statement has a fifth of the primary's time, so that a read can still be repeated there. */
const DEADLINE_PART = 0.2

export function openReplicas(primary: Database, options: ReplicasOptions): Replicas {
  const { urls, maxLagSeconds, pools, deadlineFactor = 1, log } = options
  const listeners = new Set<() => void>()
  const positions = new Positions(maxLagSeconds * 1_000)
  const writes = new WriteLog(primary.db, primary.direct, positions, {
    write: () => listeners.forEach((each) => each()),
    reset: () => replicas.forEach((replica) => replica.setAside('the connection to the primary was replaced')),
  })
  const replicas = urls.map((url) => {
    const database = openDatabase(url, { ...pools, isReadOnly: true, deadlineFactor: deadlineFactor * DEADLINE_PART })
    const [probeMs, maxLagMs] = [PROBE_MS * deadlineFactor, maxLagSeconds * 1_000]
    return new Replica({ name: nameOf(url), database, positions, maxLagMs, probeMs, log })
  })
  const silence = reportSilence(log)
  let turn = 0

  const round = async (): Promise<void> => {
    await writes.catchUp()
    silence.count = await writes.silentWriters()
    await Promise.all(replicas.map((replica) => replica.probe(writes.mark)))
  }
  const stop = new AbortController()
  const probing = repeatedly(stop.signal, round)

  return {
    async choose(ids) {
      const used = inTurn(replicas, turn++).filter(({ isUsed }) => isUsed)
      if (used.length === 0 || silence.count > 0) return null
      const isKnown = await withinMs(CATCH_UP_MS * deadlineFactor, writes.catchUp()).then(
        () => true,
        () => false,
      )
      const lsn = isKnown ? writes.requiredFor(ids) : null
      if (lsn === null) return null
      const ready = used.find((replica) => replica.hasReplayed(lsn))
      if (ready) return ready
      await Promise.all(used.map((replica) => replica.reaches(lsn)))
      return used.find((replica) => replica.hasReplayed(lsn)) ?? null
    },
    announce: (ids) => writes.announce(ids),
    onWrite: (listener) => void listeners.add(listener),
    states: () => replicas.map(({ state }) => state),
    async close() {
      stop.abort()
      await probing
      await writes.close()
      for (const replica of replicas) await replica.close()
    },
  }
}

/** Until the signal; a round that fails is repeated like any other, because the primary may be away for a moment. */
async function repeatedly(signal: AbortSignal, round: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await round().catch(() => {})
    await sleep(PROBE_EVERY_MS, undefined, { signal, ref: false }).catch(() => {})
  }
}

const inTurn = <T>(all: readonly T[], turn: number): T[] => all.map((_, index) => all[(turn + index) % all.length]!)

/** Writes of a process that does not announce them could be missed, so replicas are not used while there is one. */
function reportSilence(log: ReplicaLog) {
  let count = 0
  return {
    get count() {
      return count
    },
    set count(next: number) {
      if (next > 0 && count === 0)
        log.warn(
          `Replicas are not used: ${next} of the processes on this database have no DATABASE_REPLICA_URLS, so their writes are not known`,
        )
      if (next === 0 && count > 0) log.info('Replicas are used again: all processes on this database have DATABASE_REPLICA_URLS')
      count = next
    },
  }
}

function nameOf(url: string): string {
  const { host, port, database } = new pg.Client({ connectionString: url })
  return `${host}:${port}/${database}`
}
