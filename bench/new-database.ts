/** What the schema of a new database costs: processor time of the service and of the server, in all and of the dearest migrations. */
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { startEmbedded, SUPERUSER } from '#db/embedded.ts'
import { MIGRATIONS } from '#db/migrate.ts'
import { runMigrations, type Migration } from '#db/migration-runner.ts'
import { openDatabase } from '#db/open.ts'
import { createPartitions } from '#db/partitions.ts'
import { openLab } from '../test/support/service.ts'
import { cpuSecondsOf, treeOf } from './lib/process-tree.ts'

const { values } = parseArgs({ options: { shown: { type: 'string', default: '8' } } })
/** Above it, another way to create the schema would be worth its trouble. */
const TARGET_SECONDS = 0.3

interface Cost {
  service: number
  server: number
}

const lab = openLab()
const server = await startEmbedded(lab.dataDir())
const open = (name: string) => openDatabase({ host: server.socketDir, user: SUPERUSER, database: name })
/** Looking at /proc costs more than most migrations, so the one database is for the sum and the other for its parts. */
const [database, measuredDatabase] = [open('postgres'), open('measured')]

/** Connections are processes of the server, which live until the pool closes them. */
const spent = (): Cost => {
  const { user, system } = process.cpuUsage()
  return { service: (user + system) / 1e6, server: treeOf(server.pid).reduce((sum, pid) => sum + cpuSecondsOf(pid), 0) }
}

async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const before = spent()
  await work()
  const after = spent()
  return { service: after.service - before.service, server: after.server - before.server }
}

const shown = ({ service, server: ofServer }: Cost): string =>
  `${(service + ofServer).toFixed(2)} s (service ${service.toFixed(2)}, PostgreSQL ${ofServer.toFixed(2)})`

try {
  const costs = new Map<string, Cost>()
  const measured = Object.fromEntries(
    Object.entries(MIGRATIONS).map(([name, migration]): [string, Migration] => [
      name,
      { ...migration, up: async (db) => void costs.set(name, await costOf(() => migration.up(db))) },
    ]),
  )
  const all = await costOf(() => runMigrations(database.db, MIGRATIONS))
  await sql`create database measured`.execute(database.db)
  await runMigrations(measuredDatabase.db, measured)
  console.log(`${costs.size} migrations: ${shown(all)}, target < ${TARGET_SECONDS}; PostgreSQL counts in hundredths`)
  const dearest = [...costs].toSorted(([, a], [, b]) => b.server - a.server)
  for (const [name, { server: ofServer }] of dearest.slice(0, Number(values.shown)))
    console.log(`  ${name.padEnd(32)} PostgreSQL ${ofServer.toFixed(2)} s`)
  console.log(`partitions of the next months: ${shown(await costOf(() => createPartitions(database.db, new Date())))}`)
} finally {
  await database.close()
  await measuredDatabase.close()
  await server.leave()
  await lab.close()
}
