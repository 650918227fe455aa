/** A throw-away cluster of the PostgreSQL that the machine has installed, on a unix socket. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { freePort } from './port.ts'
import { until } from './service.ts'

export interface ServerPostgres {
  version: string
  pid: number
  /** The folder of its socket. */
  dir: string
  /** The folder of its programs, such as pg_dump. */
  bin: string
  port: number
  /** An empty database of its own. */
  createDatabase(name: string): Promise<string>
  /** Runs a program as its user; fails with what it said. */
  run(program: string, args: readonly string[]): string
  /** Stops it, and starts it again on what is in its folder. */
  halt(): Promise<void>
  resume(): Promise<void>
  /** Starts a streaming replica of it, with the same databases. */
  startReplica(): Promise<Replica>
  stop(): Promise<void>
}

interface Replica {
  pid(): number
  /** The database with the name of this one, on the replica. */
  urlFor(databaseUrl: string): string
  /** Runs a statement as its superuser. */
  run(statement: string): Promise<void>
  /** As if its machine had lost power; `start` brings it back. */
  kill(): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
}

interface ServerOptions {
  /** As `name=value`; `{dir}` is the server's folder. */
  settings?: readonly string[]
  /** Files that only the server's user may read. */
  files?: readonly string[]
}

/** Null where no PostgreSQL is installed in Debian's place. */
export async function startServerPostgres({ settings = [], files = [] }: ServerOptions = {}): Promise<ServerPostgres | null> {
  const [bin] = fs.globSync('/usr/lib/postgresql/*/bin').toSorted().toReversed()
  if (!bin) return null
  const identity = identityOf()
  const dir = folderFor(identity)
  const data = path.join(dir, 'data')
  const initdb = spawnSync(path.join(bin, 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8'], {
    ...identity,
    cwd: dir,
    encoding: 'utf8',
  })
  if (initdb.status !== 0) throw new Error(`initdb: ${initdb.stderr}`)
  for (const file of files) {
    fs.chmodSync(file, 0o600)
    if (identity.uid !== undefined) fs.chownSync(file, identity.uid, identity.gid!)
  }
  const port = await freePort()
  const place = { dir, port }
  const own = settings.map((setting) => setting.replaceAll('{dir}', dir))
  const launched = await launch({ bin, ...place, settings: own })
  const { version } = launched
  let { server } = launched
  return {
    version,
    pid: server.pid!,
    dir,
    bin,
    port,
    async createDatabase(name) {
      await admin(place, `create database ${name}`)
      return urlOf(place, name)
    },
    run(program, args) {
      const { status, stdout, stderr } = spawnSync(program, args, { ...identity, cwd: dir, encoding: 'utf8' })
      if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stdout}${stderr}`)
      return stdout
    },
    halt: () => ended(server, 'SIGINT'),
    async resume() {
      ;({ server } = await launch({ bin, ...place, settings: own }))
    },
    startReplica: () => startReplica(bin, place, own),
    async stop() {
      await ended(server, 'SIGINT')
      fs.rmSync(dir, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

async function startReplica(bin: string, primary: Place, settings: readonly string[]): Promise<Replica> {
  const identity = identityOf()
  const place = { dir: folderFor(identity), port: await freePort() }
  const from = ['-h', primary.dir, '-p', String(primary.port), '-U', 'postgres']
  const copy = ['-D', path.join(place.dir, 'data'), '-R', '-X', 'stream', '-c', 'fast', ...from]
  const copied = spawnSync(path.join(bin, 'pg_basebackup'), copy, { ...identity, cwd: place.dir, encoding: 'utf8' })
  if (copied.status !== 0) throw new Error(`pg_basebackup: ${copied.stderr}`)
  const start = async () => (await launch({ bin, ...place, settings })).server
  let server = await start()
  return {
    pid: () => server.pid!,
    urlFor: (databaseUrl) => urlOf(place, new pg.Client({ connectionString: databaseUrl }).database!),
    run: async (statement) => void (await admin(place, statement)),
    kill: () => ended(server, 'SIGQUIT'),
    async start() {
      server = await start()
    },
    async stop() {
      await ended(server, 'SIGQUIT')
      fs.rmSync(place.dir, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

interface Place {
  dir: string
  port: number
}

const urlOf = ({ dir, port }: Place, database: string): string =>
  `postgres://postgres@localhost:${port}/${database}?host=${encodeURIComponent(dir)}`

async function admin(place: Place, statement: string) {
  const client = new pg.Client({ connectionString: urlOf(place, 'postgres') })
  await client.connect()
  try {
    return await client.query<{ server_version?: string }>(statement)
  } finally {
    await client.end()
  }
}

async function launch({ bin, dir, port, settings }: Place & { bin: string; settings: readonly string[] }) {
  const log = fs.openSync(path.join(dir, 'server.log'), 'a')
  const all = ['listen_addresses=', `port=${port}`, ...settings].flatMap((setting) => ['-c', setting])
  const server = spawn(path.join(bin, 'postgres'), ['-D', path.join(dir, 'data'), '-k', dir, ...all], {
    ...identityOf(),
    cwd: dir,
    stdio: ['ignore', log, log],
  })
  fs.closeSync(log)
  const version = await until('PostgreSQL to answer', async () => {
    if (server.exitCode !== null) throw new Error(fs.readFileSync(path.join(dir, 'server.log'), 'utf8'))
    return await admin({ dir, port }, 'show server_version').then(
      ({ rows }) => rows[0]!.server_version!,
      () => null,
    )
  })
  return { server, version }
}

async function ended(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const gone = new Promise((resolve) => server.once('exit', resolve))
  if (server.exitCode === null && server.kill(signal)) await gone
}

type Identity = { uid?: number; gid?: number }

/** PostgreSQL does not run as root. */
const identityOf = (): Identity => (process.getuid?.() === 0 ? ownerOf('postgres') : {})

function folderFor(identity: Identity): string {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'groundtrack-server-'))
  if (identity.uid !== undefined) fs.chownSync(dir, identity.uid, identity.gid!)
  return dir
}

function ownerOf(user: string): Identity {
  const line = new RegExp(`^${user}:[^:]*:(\\d+):(\\d+)`, 'm').exec(fs.readFileSync('/etc/passwd', 'utf8'))
  return line ? { uid: Number(line[1]), gid: Number(line[2]) } : {}
}
