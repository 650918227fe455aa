/**
 * Reservations a second on one hot organization and on 100, against pgbench's TPC-B-like transaction on the same server;
 * `--simulate 100000` runs the model test instead.
 */
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { newId } from '#core/ids.ts'
import { migrate } from '#db/migrate.ts'
import { openDatabase } from '#db/open.ts'
import type { Db } from '#db/tables.ts'
import * as ledgers from '#model/money/ledger.ts'
import { newOrganization, simulate } from '../test/ledger/commands.ts'
import { moneyViolations } from '../test/money/invariants.ts'
import { startServerPostgres } from '../test/support/server-postgres.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    simulate: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
const seconds = Number(values.seconds)
const CALLERS = [1, 8, 32] as const
const MANY = 100
const AIM = 0.6
/** Organizations whose commands run beside each other in the model test. */
const LANES = 8

const server = await startServerPostgres()
if (!server) throw new Error('Needs a PostgreSQL in /usr/lib/postgresql')
try {
  const url = await server.createDatabase('ledger')
  // The model test asks what is true, not how fast it is on disk.
  const database = openDatabase(values.simulate ? `${url}&options=${encodeURIComponent('-c synchronous_commit=off')}` : url, {
    maxConnections: 32,
  })
  await migrate(database.db)
  if (values.simulate) await simulation(database.db, Number(values.simulate))
  else await comparison(database.db, url)
  await database.close()
} finally {
  await server.stop()
}

async function simulation(db: Db, commands: number): Promise<void> {
  const seed = Number(values.seed)
  const began = performance.now()
  console.log(`seed ${seed} (--seed=${seed} repeats it)`)
  const done = await simulate({ db, commands, lanes: LANES, seed })
  console.log(
    `${done.commands} commands in ${done.runs} runs of ${LANES} organizations each, ` +
      `${((performance.now() - began) / 1000).toFixed(0)} s: 0 differences`,
  )
}

async function comparison(db: Db, url: string): Promise<void> {
  console.log(`PostgreSQL ${server!.version}, fsync on, ${seconds} s each\n`)
  console.log('organizations  callers  reservations/s  TPC-B/s  ratio')
  for (const organizations of [1, MANY]) {
    const ids = await Promise.all(Array.from({ length: organizations }, () => funded(db)))
    pgbench(url, ['-i', '-q', '-s', String(organizations)])
    for (const callers of CALLERS) {
      const ours = await reservationsPerSecond(db, ids, callers)
      const theirs = tpcb(url, callers)
      console.log(
        `${String(organizations).padStart(13)}  ${String(callers).padStart(7)}  ${ours.toFixed(0).padStart(14)}  ` +
          `${theirs.toFixed(0).padStart(7)}  ${(ours / theirs).toFixed(2)}${ours / theirs < AIM ? ' below the aim' : ''}`,
      )
    }
  }
  // Nobody called: the ledger was used alone.
  const broken = (await moneyViolations(db)).filter((line) => !line.startsWith('each transfer was made by a call'))
  console.log(broken.length === 0 ? '\nthe ledger agrees with its wallets' : `\nBROKEN: ${broken.join(', ')}`)
}

async function funded(db: Db): Promise<string> {
  const organizationId = await newOrganization(db)
  await db
    .transaction()
    .execute((tx) =>
      ledgers.credit(tx, { organizationId, invocationId: newId(), now: new Date(), reference: null }, [
        { type: 'grant', credits: 1_000_000_000 },
      ]),
    )
  return organizationId
}

async function reservationsPerSecond(db: Db, ids: readonly string[], callers: number): Promise<number> {
  let done = 0
  const until = performance.now() + seconds * 1000
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      for (let nth = caller; performance.now() < until; nth++) {
        const organizationId = ids[nth % ids.length]!
        const row = {
          id: newId(),
          mode: 'credit' as const,
          credits: 1,
          userId: null,
          apiKeyId: null,
          countsForCaps: false,
          lines: [],
          deadlineAt: null,
          approvalId: null,
        }
        await ledgers.reserve(db, { organizationId, invocationId: newId(), now: new Date(), reference: { type: 'order', id: row.id } }, row)
        done++
      }
    }),
  )
  return done / seconds
}

function tpcb(url: string, callers: number): number {
  const output = pgbench(url, ['-n', '-M', 'prepared', '-c', String(callers), '-j', '2', '-T', String(seconds)])
  return Number(/tps = ([\d.]+)/.exec(output)![1])
}

function pgbench(url: string, args: readonly string[]): string {
  const { searchParams, pathname } = new URL(url)
  const { status, stdout, stderr } = spawnSync('pgbench', ['-h', searchParams.get('host')!, '-U', 'postgres', ...args, pathname.slice(1)], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`pgbench: ${stderr}`)
  return stdout
}
