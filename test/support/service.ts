/** The service as a real process, for tests and benches that watch it start, die and come back. */
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const root = path.join(import.meta.dirname, '../..')
/** Nothing takes so long on a machine that is merely busy: what has not happened by then is broken. */
const PATIENT_MS = 600_000
const POLL_MS = 10

export const MAIN = 'src/main.ts'
/** The same service with operations of the tests' own. */
export const MAIN_WITH_TEST_OPERATIONS = 'test/faults/service.ts'

interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

export interface Service {
  pid: number
  baseUrl: string
  /** Everything the process has printed so far. */
  output(): string
  exited: Promise<Exit>
  /** Sends the signal and waits until the process is gone. */
  kill(signal: NodeJS.Signals): Promise<Exit>
}

interface ServiceOptions {
  entry?: string
  env?: Record<string, string>
  nodeOptions?: readonly string[]
  /** Runs it and its children on one core, for benches. */
  core?: number
}

/** Where processes and folders are made; closing it ends and removes all of them, by the ids that were recorded. */
export interface Lab {
  dataDir(): string
  /** Starts a process and does not wait for it to be ready. */
  spawn(options: ServiceOptions): Omit<Service, 'baseUrl'>
  start(options: ServiceOptions): Promise<Service>
  close(): Promise<void>
}

export function openLab(): Lab {
  const processes: Omit<Service, 'baseUrl'>[] = []
  const dataDirs: string[] = []
  const launch = (options: ServiceOptions) => {
    const service = spawnService(options)
    processes.push(service)
    return service
  }
  return {
    dataDir() {
      const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'groundtrack-lab-'))
      dataDirs.push(dir)
      return dir
    },
    spawn: launch,
    start: async (options) => await untilReady(launch(options)),
    async close() {
      for (const service of processes) await service.kill('SIGKILL')
      for (const dir of dataDirs) {
        const server = postmasterOf(dir)
        await killPostmaster(dir)
        if (server) fs.rmSync(server.socketDir, { recursive: true, force: true })
        fs.rmSync(dir, { recursive: true, force: true, maxRetries: 10 }) // The server's last children may still be closing files.
      }
    },
  }
}

/** What `npm start` gives Node. */
export const START_FLAGS: readonly string[] = (
  JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as { scripts: { start: string } }
).scripts.start
  .split('exec ')[1]!
  .split(' ')
  .filter((word) => word.startsWith('--'))

function spawnService({ entry = MAIN, env = {}, nodeOptions = [], core }: ServiceOptions): Omit<Service, 'baseUrl'> {
  const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE } = process.env
  const inherited = Object.fromEntries(
    Object.entries({ PATH, HOME, TMPDIR, NODE_COMPILE_CACHE }).filter(([, value]) => value !== undefined),
  ) as Record<string, string>
  const run = [process.execPath, ...START_FLAGS, ...nodeOptions, entry]
  const [command = '', ...args] = core === undefined ? run : ['taskset', '-c', String(core), ...run]
  const child = spawn(command, args, {
    cwd: root,
    env: { ...inherited, PORT: '0', LOG_LEVEL: 'warn', OFFLINE: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  const exited = new Promise<Exit>((resolve) => child.once('close', (code, signal) => resolve({ code, signal })))
  return {
    pid: child.pid!,
    output: () => output,
    exited,
    async kill(signal) {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal)
      return await within(exited, PATIENT_MS, () => `process ${child.pid} outlived ${signal}:\n${output}`)
    },
  }
}

async function untilReady(service: Omit<Service, 'baseUrl'>): Promise<Service> {
  let exit: Exit | null = null
  void service.exited.then((how) => {
    exit = how
  })
  const deadline = Date.now() + PATIENT_MS
  for (;;) {
    const address = /^ {2}Service +(http:\S+)$/m.exec(service.output())?.[1]
    if (address) return { ...service, baseUrl: address }
    if (exit) throw new Error(`the service ended with ${JSON.stringify(exit)}:\n${service.output()}`)
    if (Date.now() > deadline) throw new Error(`the service was not ready in time:\n${service.output()}`)
    await sleep(POLL_MS)
  }
}

/** Polls a condition; throws when it does not hold in time. */
export async function until<T>(
  what: string,
  condition: () => Promise<T | null | false | undefined> | T | null | false | undefined,
  timeoutMs = PATIENT_MS,
): Promise<T> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const value = await condition()
    if (value) return value
    if (Date.now() > deadline) throw new Error(`waited in vain for: ${what}`)
    await sleep(POLL_MS)
  }
}

async function within<T>(promise: Promise<T>, timeoutMs: number, message: () => string): Promise<T> {
  const timer = new AbortController()
  const late = sleep(timeoutMs, undefined, { signal: timer.signal }).then(() => {
    throw new Error(message())
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    timer.abort()
    late.catch(() => {})
  }
}

/** The embedded server of a DATA_DIR as its own file describes it; null when there is none. */
export function postmasterOf(dataDir: string): { pid: number; socketDir: string } | null {
  const location = path.join(dataDir, 'postgres.location')
  const parent = fs.existsSync(location) ? fs.readFileSync(location, 'utf8').trim() : dataDir
  try {
    const lines = fs.readFileSync(path.join(parent, 'postgres/postmaster.pid'), 'utf8').split('\n')
    return { pid: Number(lines[0]), socketDir: lines[4]! }
  } catch {
    return null
  }
}

/** A process that ended and waits for its parent to notice counts as gone. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat[stat.lastIndexOf(')') + 2] !== 'Z'
  } catch {
    return false
  }
}

export async function killPostmaster(dataDir: string): Promise<void> {
  const server = postmasterOf(dataDir)
  if (!server || !isAlive(server.pid)) return
  process.kill(server.pid, 'SIGKILL')
  await until(`the end of PostgreSQL ${server.pid}`, () => !isAlive(server.pid))
}

export function embeddedUrl(dataDir: string): string {
  return `postgres://postgres@localhost/postgres?host=${encodeURIComponent(postmasterOf(dataDir)!.socketDir)}`
}
