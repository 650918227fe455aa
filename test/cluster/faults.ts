/** What happens to a cluster. A fault is begun and, a while later, ended; what is killed is started again by its service manager. */
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { withDatabase } from '../faults/kill.ts'
import type { Random } from '../support/random.ts'
import { until } from '../support/service.ts'
import type { Cluster, Node } from './cluster.ts'

export interface Fault {
  name: string
  /** Whether another database becomes the primary; calls may then fail for longer. */
  isFailover?: true
  hasWrongClock?: true
  /** Makes it happen, and returns when it has ended: with what was struck, and when it ended by `performance.now()`. */
  strike(cluster: Cluster, random: Random): Promise<Struck>
}

interface Struck {
  what: string
  endedAtMs: number
}

const FROZEN_MS = 20_000
const CUT_MS = 20_000
/** Longer than the primary's lease. */
const PRIMARY_CUT_MS = 40_000
const BEHIND_MS = 30_000
const STORE_DOWN_MS = 10_000
const STORE_SLOW_MS = 15_000
/** Longer than any call may take. */
const STORE_SILENT_MS = 40_000
const STORE_KILOBITS = 64
const FULL_MS = 10_000
const WRONG_CLOCK_MS = 15_000
const HOUR_SECONDS = 3_600

/** Begins something, waits, ends it. */
async function during(
  what: string,
  ms: number,
  begin: () => (() => void | Promise<void>) | Promise<() => void | Promise<void>>,
): Promise<Struck> {
  const end = await begin()
  try {
    await sleep(ms)
  } finally {
    await end()
  }
  return { what, endedAtMs: performance.now() }
}

const now = (what: string): Struck => ({ what, endedAtMs: performance.now() })

const kill = (name: string, of: (cluster: Cluster) => readonly Node[]): Fault => ({
  name: `kill -9 of ${name}`,
  async strike(cluster, random) {
    const node = random.pick(of(cluster))
    node.program.strike('SIGKILL')
    return now(node.name)
  },
})

const freeze = (name: string, of: (cluster: Cluster, random: Random) => Promise<Node>): Fault => ({
  name: `SIGSTOP of ${name}`,
  async strike(cluster, random) {
    const { host } = await of(cluster, random)
    return await during(host.name, FROZEN_MS, () => {
      host.signal('SIGSTOP')
      return () => host.signal('SIGCONT')
    })
  },
})

const partition = (name: string, ms: number, of: (cluster: Cluster, random: Random) => Promise<Node>): Fault => ({
  name: `partition of ${name}`,
  async strike(cluster, random) {
    const { host } = await of(cluster, random)
    return await during(host.name, ms, () => host.drop())
  },
})

const BLOCK = Buffer.alloc(1024 * 1024)

/** Writes until there is no space left. */
function fillUp(file: string): void {
  const opened = fs.openSync(file, 'w')
  try {
    for (;;) fs.writeSync(opened, BLOCK)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  } finally {
    fs.closeSync(opened)
  }
}

const fill = (name: string, of: (cluster: Cluster, random: Random) => Promise<Node>): Fault => ({
  name: `disk full at ${name}`,
  async strike(cluster, random) {
    const node = await of(cluster, random)
    return await during(node.name, FULL_MS, () => {
      const file = path.join(node.disk, 'fills-the-disk')
      fillUp(file)
      return () => fs.rmSync(file)
    })
  },
})

const clock = (name: string, seconds: number): Fault => ({
  name: `clock ${name}`,
  hasWrongClock: true,
  async strike({ apis, workers }, random) {
    const node = random.pick([...apis, ...workers].filter(({ setClock }) => setClock))
    return await during(node.name, WRONG_CLOCK_MS, () => {
      node.setClock!(seconds)
      return () => node.setClock!(0)
    })
  },
})

const anApi = async ({ apis }: Cluster, random: Random) => random.pick(apis)
const aWorker = async ({ workers }: Cluster, random: Random) => random.pick(workers)
const thePrimary = (cluster: Cluster) => cluster.primary()
const theStandby = (cluster: Cluster) => cluster.standby()

/** The host of the primary ends, and comes back when another has taken over. */
const killPrimary: Fault = {
  name: 'primary killed',
  isFailover: true,
  async strike(cluster) {
    const { name, host, program } = await cluster.primary()
    await program.stop('SIGKILL')
    host.signal('SIGKILL')
    const struck = now(name)
    await until('another primary', async () => (await cluster.primary()).name !== name, 60_000)
    program.start()
    return struck
  },
}

const switchover: Fault = {
  name: 'switchover',
  isFailover: true,
  async strike(cluster) {
    const { name, host } = await cluster.primary()
    const body = JSON.stringify({ leader: name })
    const response = await fetch(`http://${host.address}:8008/switchover`, { method: 'POST', body })
    if (!response.ok) throw new Error(`switchover: ${response.status} ${await response.text()}`)
    return now(name)
  },
}

/** Patroni's checks get through, statements and their results do not. */
const dropDatabase: Fault = {
  name: 'packets dropped between pooler and primary',
  async strike(cluster) {
    const { name, host } = await cluster.primary()
    return await during(name, CUT_MS, () => cluster.pooler.host.drop(host, 5432))
  },
}

const dropPooler: Fault = {
  name: 'packets dropped between API and pooler',
  async strike(cluster, random) {
    const { name, host } = random.pick(cluster.apis)
    return await during(name, CUT_MS, () => host.drop(cluster.pooler.host))
  },
}

const lag: Fault = {
  name: 'standby 30 s behind',
  async strike(cluster) {
    const { name, host } = await cluster.standby()
    const url = `postgres://postgres@${host.address}:5432/groundtrack`
    const replay = (verb: 'pause' | 'resume') =>
      withDatabase(url, async (db) => void (await sql`select ${sql.raw(`pg_wal_replay_${verb}()`)}`.execute(db)))
    return await during(name, BEHIND_MS, async () => {
      await replay('pause')
      return () => replay('resume')
    })
  },
}

const storeDown: Fault = {
  name: 'S3 down',
  strike: ({ store }) =>
    during('store', STORE_DOWN_MS, async () => {
      await store.program.stop('SIGKILL')
      return async () => {
        store.program.start()
        // It is down until it answers, however long Java takes to start.
        await until('the store to answer', () =>
          fetch(store.url).then(
            () => true,
            () => sleep(50, false),
          ),
        )
      }
    }),
}

const storeSlow: Fault = {
  name: 'S3 slow',
  strike: ({ store }) => during('store', STORE_SLOW_MS, () => store.host.slow(STORE_KILOBITS)),
}

const storeSilent: Fault = {
  name: 'packets dropped before S3',
  strike: ({ store }) => during('store', STORE_SILENT_MS, () => store.host.drop()),
}

const killPooler: Fault = {
  name: 'kill -9 of PgBouncer',
  async strike({ pooler }) {
    pooler.strike('SIGKILL')
    return now('pgbouncer')
  },
}

const freezePooler: Fault = {
  name: 'SIGSTOP of PgBouncer',
  strike: ({ pooler }) =>
    during('pgbouncer', FROZEN_MS, () => {
      pooler.strike('SIGSTOP')
      return () => pooler.strike('SIGCONT')
    }),
}

const ALL: readonly Fault[] = [
  kill('an API process', ({ apis }) => apis),
  kill('a worker', ({ workers }) => workers),
  killPooler,
  freeze('an API process', anApi),
  freeze('a worker', aWorker),
  freezePooler,
  freeze('the primary', thePrimary),
  freeze('the standby', theStandby),
  killPrimary,
  switchover,
  partition('an API process', CUT_MS, anApi),
  partition('a worker', CUT_MS, aWorker),
  { ...partition('the primary', PRIMARY_CUT_MS, thePrimary), isFailover: true },
  partition('the standby', CUT_MS, theStandby),
  dropDatabase,
  dropPooler,
  lag,
  storeDown,
  storeSlow,
  storeSilent,
  fill('the primary', thePrimary),
  fill('a worker', aWorker),
  clock('an hour ahead', HOUR_SECONDS),
  clock('an hour behind', -HOUR_SECONDS),
]

export const FAULT_NAMES: readonly string[] = ALL.map(({ name }) => name)

/** What can happen to this cluster. */
export const faultsFor = ({ apis }: Cluster): readonly Fault[] =>
  ALL.filter(({ hasWrongClock }) => !hasWrongClock || apis.some(({ setClock }) => setClock))
