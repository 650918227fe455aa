/** Debian's PgBouncer in transaction mode, in front of the PostgreSQL of the tests. */
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { freePort } from './port.ts'
import { until } from './service.ts'

export interface PgBouncer {
  version: string
  /** The same database, through the pooler. */
  urlFor(databaseUrl: string): string
  stop(): Promise<void>
}

interface PgBouncerOptions {
  /** Any URL of the server. */
  serverUrl: string
  /** Connections to the server for each database. */
  poolSize: number
  /** 0: as in versions before 1.21, prepared statements are not supported. */
  preparedStatements: number
}

/** Why there is none, for tests that skip; null where PgBouncer is installed. */
export const noPgBouncer = (): string | null => (binary() ? null : 'PgBouncer is not installed (Debian: apt-get install pgbouncer)')

const binary = (): string | undefined =>
  [process.env['PGBOUNCER'], '/usr/sbin/pgbouncer', '/usr/local/bin/pgbouncer'].find((file) => file && fs.existsSync(file))

export async function startPgBouncer({ serverUrl, poolSize, preparedStatements }: PgBouncerOptions): Promise<PgBouncer> {
  const { host, port: serverPort, user, password } = new pg.Client({ connectionString: serverUrl })
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'groundtrack-pgbouncer-'))
  const port = await freePort()
  const version = /PgBouncer (\d+\.\d+)/.exec(spawnSync(binary()!, ['--version'], { encoding: 'utf8' }).stdout)?.[1] ?? ''
  const isPreparing = Number(version.split('.')[1]) >= 21
  const settings = [
    '[databases]',
    `* = host=${host} port=${serverPort} user=${user ?? 'postgres'}${password ? ` password=${password}` : ''}`,
    '[pgbouncer]',
    'pool_mode = transaction',
    'auth_type = any',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    `default_pool_size = ${poolSize}`,
    'max_client_conn = 1000',
    ...(isPreparing ? [`max_prepared_statements = ${preparedStatements}`] : []),
  ]
  const file = path.join(dir, 'pgbouncer.ini')
  fs.writeFileSync(file, `${settings.join('\n')}\n`)
  fs.chmodSync(dir, 0o755)
  const log = fs.openSync(path.join(dir, 'log'), 'a')
  const server = spawn(binary()!, [file], { ...identityFor(host), cwd: dir, stdio: ['ignore', log, log] })
  fs.closeSync(log)
  const urlFor = (databaseUrl: string): string => {
    const { database } = new pg.Client({ connectionString: databaseUrl })
    return `postgres://${user ?? 'postgres'}@127.0.0.1:${port}/${database}`
  }
  await until('PgBouncer to answer', async () => {
    if (server.exitCode !== null) throw new Error(fs.readFileSync(path.join(dir, 'log'), 'utf8'))
    const client = new pg.Client({ connectionString: urlFor(serverUrl) })
    return await client.connect().then(
      () => client.end().then(() => true),
      () => false,
    )
  })
  return {
    version,
    urlFor,
    async stop() {
      const gone = new Promise((resolve) => server.once('exit', resolve))
      // Later versions wait for their clients after SIGTERM.
      if (server.exitCode === null && server.kill('SIGKILL')) await gone
      fs.rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** It does not run as root, and must be able to enter the folder of the server's socket. */
function identityFor(host: string): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  return host.startsWith('/') ? { uid: fs.statSync(host).uid, gid: fs.statSync(host).gid } : NOBODY
}

const NOBODY = { uid: 65_534, gid: 65_534 }
