/** A throw-away cluster of the PostgreSQL that the machine has installed, on a unix socket. */
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { freePort } from './port.ts'
import { until } from './service.ts'

interface ServerPostgres {
  version: string
  pid: number
  /** The folder of its socket. */
  dir: string
  port: number
  /** An empty database of its own. */
  createDatabase(name: string): Promise<string>
  stop(): Promise<void>
}

interface ServerOptions {
  /** As `name=value`. */
  settings?: readonly string[]
  /** Files that only the server's user may read. */
  files?: readonly string[]
}

/** Null where no PostgreSQL is installed in Debian's place. */
export async function startServerPostgres({ settings = [], files = [] }: ServerOptions = {}): Promise<ServerPostgres | null> {
  const [bin] = fs.globSync('/usr/lib/postgresql/*/bin').toSorted().toReversed()
  if (!bin) return null
  const identity = process.getuid?.() === 0 ? ownerOf('postgres') : {}
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'groundtrack-server-'))
  if (identity.uid !== undefined) fs.chownSync(dir, identity.uid, identity.gid!)
  const data = path.join(dir, 'data')
  const initdb = spawnSync(path.join(bin, 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8'], {
    ...identity,
    cwd: dir,
    encoding: 'utf8',
  })
  if (initdb.status !== 0) throw new Error(`initdb: ${initdb.stderr}`)
  const log = fs.openSync(path.join(dir, 'server.log'), 'a')
  for (const file of files) {
    fs.chmodSync(file, 0o600)
    if (identity.uid !== undefined) fs.chownSync(file, identity.uid, identity.gid!)
  }
  const port = await freePort()
  const all = ['listen_addresses=', `port=${port}`, ...settings].flatMap((setting) => ['-c', setting])
  const server = spawn(path.join(bin, 'postgres'), ['-D', data, '-k', dir, ...all], {
    ...identity,
    cwd: dir,
    stdio: ['ignore', log, log],
  })
  fs.closeSync(log)
  const url = (database: string) => `postgres://postgres@localhost:${port}/${database}?host=${encodeURIComponent(dir)}`
  const admin = async (statement: string) => {
    const client = new pg.Client({ connectionString: url('postgres') })
    await client.connect()
    try {
      return await client.query<{ server_version?: string }>(statement)
    } finally {
      await client.end()
    }
  }
  const version = await until('PostgreSQL to answer', async () => {
    if (server.exitCode !== null) throw new Error(fs.readFileSync(path.join(dir, 'server.log'), 'utf8'))
    return await admin('show server_version').then(
      ({ rows }) => rows[0]!.server_version!,
      () => null,
    )
  })
  return {
    version,
    pid: server.pid!,
    dir,
    port,
    async createDatabase(name) {
      await admin(`create database ${name}`)
      return url(name)
    },
    async stop() {
      const gone = new Promise((resolve) => server.once('exit', resolve))
      if (server.exitCode === null && server.kill('SIGINT')) await gone
      fs.rmSync(dir, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

function ownerOf(user: string): { uid?: number; gid?: number } {
  const line = new RegExp(`^${user}:[^:]*:(\\d+):(\\d+)`, 'm').exec(fs.readFileSync('/etc/passwd', 'utf8'))
  return line ? { uid: Number(line[1]), gid: Number(line[2]) } : {}
}
