// Goal: with the configuration in ops/pgbackrest, as the guide uses it, the database can be restored as it was at any moment: what was
// committed before is there, what came later is not, and the service starts on it.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import pg from 'pg'
import { createOwner, ok } from './support/client.ts'
import { startServerPostgres } from './support/server-postgres.ts'
import { openLab, until } from './support/service.ts'

const PROGRAM = process.env['PGBACKREST'] ?? 'pgbackrest'
const CONFIGURATION = fs.readFileSync(path.join(import.meta.dirname, '../ops/pgbackrest/pgbackrest.conf'), 'utf8')

test('point-in-time recovery with pgBackRest', async (t) => {
  if (spawnSync(PROGRAM, ['version']).status !== 0) return t.skip('pgBackRest is not installed (Debian: apt-get install pgbackrest)')
  const archive = `${PROGRAM} --config={dir}/pgbackrest.conf --stanza=groundtrack archive-push %p`
  const server = await startServerPostgres({ settings: ['archive_mode=on', `archive_command=${archive}`] })
  if (!server) return t.skip('PostgreSQL is not installed (Debian: apt-get install postgresql)')
  t.after(() => server.stop())
  const lab = openLab()
  t.after(() => lab.close())
  const { dir, port } = server
  const own = CONFIGURATION.replace('/var/lib/pgbackrest', `${dir}/repository`)
    .replace('/var/spool/pgbackrest', `${dir}/spool`)
    .replace('/var/lib/postgresql/15/main', `${dir}/data`)
    .replace('/var/run/postgresql', dir)
  assert.ok(!own.includes('/var/'), 'every path of the configuration is replaced')
  const here = own.replace('[global]\n', `[global]\nlog-path=${dir}\nlock-path=${dir}/lock\n`)
  fs.writeFileSync(path.join(dir, 'pgbackrest.conf'), `${here}pg1-port=${port}\npg1-user=postgres\n`)
  const pgbackrest = (...args: string[]) => server.run(PROGRAM, [`--config=${dir}/pgbackrest.conf`, '--stanza=groundtrack', ...args])

  const url = await server.createDatabase('groundtrack')
  const settings = { DATA_DIR: lab.dataDir(), DATABASE_URL: url, DEMO: '0', PAYMENTS: 'none' }
  pgbackrest('stanza-create')
  pgbackrest('check')
  const service = await lab.start({ env: settings })
  const owner = await createOwner(service.baseUrl, 'owner@example.com')
  const { id: project_id } = await ok(service.baseUrl, owner.token, 'projects.create', { name: 'Harbour' })
  const collect = (name: string) => ok(service.baseUrl, owner.token, 'collections.create', { project_id, name })
  await collect('in the full backup')
  pgbackrest('--type=full', 'backup')
  await nextSecond(url)
  await collect('before the accident')
  const target = await moment(url)
  await collect('the accident')
  await moment(url)
  await service.kill('SIGTERM')
  await server.halt()

  pgbackrest('--delta', '--type=time', `--target=${target}`, '--target-action=promote', 'restore')
  await server.resume()
  await until('the end of the recovery', async () => !(await value<boolean>(url, 'select pg_is_in_recovery()')))
  const restored = await lab.start({ env: settings })
  const names = (await ok(restored.baseUrl, owner.token, 'collections.list', { project_id })).map(({ name }: { name: string }) => name)
  assert.deepEqual(names.toSorted(), ['before the accident', 'in the full backup'])
})

/** The server's own time between two transactions, and the log up to there in the archive. */
async function moment(url: string): Promise<string> {
  const at = await value<string>(url, "select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US+00')")
  await value(url, "select pg_logical_emit_message(true, 'groundtrack', 'a transaction behind it')")
  const segment = await value<string>(url, 'select pg_walfile_name(pg_switch_wal())')
  await until('the log in the archive', async () => {
    return (await value<string | null>(url, 'select last_archived_wal from pg_stat_archiver')) === segment
  })
  return at
}

/** pgBackRest knows the end of a backup to the second: a target in the same second would be before it. */
async function nextSecond(url: string): Promise<void> {
  const second = () => value<string>(url, "select date_trunc('second', clock_timestamp())::text")
  const now = await second()
  await until('the next second', async () => (await second()) !== now)
}

async function value<T>(url: string, query: string): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return Object.values((await client.query<Record<string, T>>(query)).rows[0]!)[0]!
  } finally {
    await client.end()
  }
}
