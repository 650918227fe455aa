import { spawn } from 'node:child_process'
import { statfsSync } from 'node:fs'
import { createConnection } from 'node:net'
import path from 'node:path'
import { accountOf, connect } from '../config.ts'
import { EXIT } from '../failure.ts'
import { readFlags, type GlobalOptions, type Run } from '../options.ts'
import { json, note, paint, print, size } from '../terminal.ts'

interface Finding {
  check: string
  ok: boolean
  detail: string
}

const TIMEOUT_MS = 5_000
const MAX_SKEW_MS = 5_000
const LOW_DISK_BYTES = 5e9

/** What a person would look at first when something does not work. */
export const run: Run = async (rest, options) => {
  readFlags(rest, { positions: 0 })
  const { server } = accountOf(options)
  const base = new URL(server)
  const port = Number(base.port || (base.protocol === 'https:' ? 443 : 80))
  const isUp = await listens(base.hostname, port)
  const isLocal = ['127.0.0.1', 'localhost', '::1'].includes(base.hostname)
  const findings: Finding[] = [
    {
      check: 'port',
      ok: isUp,
      detail: isUp ? `${base.host} answers` : `nobody listens at ${base.host}; start the service with: groundtrack up`,
    },
    ...(isLocal ? [disk()] : []),
    ...(isUp ? [await health(server), await database(server), await clock(server)] : []),
    ...(isUp && isLocal ? [await store(base, port)] : []),
    ...(isUp ? [await credential(options)] : []),
  ]
  if (options.json) await print(`${json(findings)}\n`)
  else
    for (const { check, ok, detail } of findings)
      await print(`${ok ? paint('green', '✓') : paint('red', '✗')} ${check.padEnd(11)} ${detail}\n`)
  return findings.every(({ ok }) => ok) ? EXIT.ok : EXIT.refused
}

function listens(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host, port, timeout: TIMEOUT_MS })
    const end = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket
      .on('connect', () => end(true))
      .on('error', () => end(false))
      .on('timeout', () => end(false))
  })
}

const fetchSoon = (url: string) => globalThis.fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })

async function asked(check: string, url: string, ok: string, bad: string): Promise<Finding> {
  try {
    const response = await fetchSoon(url)
    return { check, ok: response.ok, detail: response.ok ? ok : `${bad} (HTTP ${response.status})` }
  } catch (error) {
    return { check, ok: false, detail: `${bad} (${error instanceof Error ? error.message : String(error)})` }
  }
}

const health = (server: string) => asked('service', `${server}/health`, 'answers', 'does not answer as a Groundtrack service')
const database = (server: string) =>
  asked('database', `${server}/ready`, 'the service says that it is ready', 'the service says that it is not ready')

async function clock(server: string): Promise<Finding> {
  const before = Date.now()
  const date = Date.parse((await fetchSoon(`${server}/health`)).headers.get('date') ?? '')
  // A Date header has whole seconds.
  const skew = Number.isNaN(date) ? 0 : Math.max(0, Math.abs(date + 500 - (before + Date.now()) / 2) - 500)
  const ok = skew <= MAX_SKEW_MS
  return {
    check: 'clock',
    ok,
    detail: ok ? 'agrees with the service' : `${Math.round(skew / 1000)} s apart from the service; signed addresses and tokens will fail`,
  }
}

async function store(base: URL, port: number): Promise<Finding> {
  const at = Number(process.env['STORE_PORT'] ?? port + 1)
  const ok = await listens(base.hostname, at)
  return {
    check: 'store',
    ok,
    detail: ok
      ? `listens at ${base.hostname}:${at}`
      : `nobody listens at ${base.hostname}:${at}; with S3, or another STORE_PORT, that is as it should be`,
  }
}

function disk(): Finding {
  const folder = path.resolve(process.env['DATA_DIR'] ?? '.')
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  return { check: 'disk', ok: free > LOW_DISK_BYTES, detail: `${size(free)} free at ${folder}` }
}

async function credential(options: GlobalOptions): Promise<Finding> {
  const { apiKey, session } = accountOf(options)
  if (!apiKey && !session) return { check: 'credential', ok: false, detail: 'nobody is signed in: groundtrack sign-in' }
  try {
    const { name, plan } = await connect(options).call<{ name: string; plan: string }>('organizations.get', {}, { maxRetries: 0 }, 'read')
    return { check: 'credential', ok: true, detail: `acts for ${name} (${plan})` }
  } catch (error) {
    return { check: 'credential', ok: false, detail: error instanceof Error ? error.message : String(error) }
  }
}

const OPENERS: Readonly<Record<string, string>> = { darwin: 'open', win32: 'explorer' }

/** Opens a page in the browser, and prints its address for those who have none. */
export const open: Run = async (rest, options) => {
  const { positions } = readFlags(rest, { positions: 1 })
  const { server } = accountOf(options)
  const [what = 'app'] = positions
  const url = what === 'app' ? `${server}/` : what === 'docs' ? `${server}/docs` : `${server}/app/items/${encodeURIComponent(what)}`
  await print(`${url}\n`)
  const child = spawn(OPENERS[process.platform] ?? 'xdg-open', [url], { stdio: 'ignore', detached: true })
  child.on('error', () => note('No browser could be started; open the address yourself', options.quiet))
  child.unref()
}
