/** A migrated database on a PostgreSQL with a streaming replica, and processes on both. */
import type { TestContext } from 'node:test'
import { migrate } from '#db/migrate.ts'
import { openDatabase } from '#db/open.ts'
import { openQueue } from '#db/queue.ts'
import { startServerPostgres } from './server-postgres.ts'
import { until } from './service.ts'
import { world, type World } from './world.ts'
import type { ReplicaState } from '#db/replicas/replica.ts'

export const NO_SERVER = 'PostgreSQL is not installed (Debian: apt-get install postgresql)'

/** Null where no PostgreSQL is installed. */
export async function replicated(t: TestContext) {
  const server = await startServerPostgres({ settings: ['fsync=off', 'max_connections=200'] })
  if (!server) return null
  const url = await server.createDatabase('replicated')
  const database = openDatabase(url)
  await migrate(database.db)
  await (await openQueue(database.db, { worker: false, onError: () => {} })).stop() // So that worlds need not create it at the same time.
  await database.close()
  const replica = await server.startReplica()
  /** The servers stop after the last process that uses them; hooks run in the order in which they are registered. */
  let users = 1
  const leave = async () => {
    if (--users > 0) return
    await replica.stop()
    await server.stop()
  }
  t.after(leave)
  const replicaUrl = replica.urlFor(url)
  return {
    server,
    replica,
    url,
    replicaUrl,
    /** A process whose reads use the replica. */
    async process(options: { maxLagSeconds?: number } = {}): Promise<World> {
      const w = await world(t, { databaseUrl: url, replicas: { urls: [replicaUrl], ...options } })
      users++
      t.after(leave)
      return w
    },
  }
}

export const replicaState = (w: World): ReplicaState => w.platform.replicas!.states()[0]!

export const isUsed = (w: World): boolean => replicaState(w).isUsed

export const untilUsed = (w: World) => until('the replica to be used', () => isUsed(w))
export const untilSetAside = (w: World) => until('the replica to be set aside', () => !isUsed(w))

/** How many reads a replica served meanwhile. */
export async function readsDuring(w: World, work: () => Promise<unknown>): Promise<number> {
  const before = replicaState(w).reads
  await work()
  return replicaState(w).reads - before
}
