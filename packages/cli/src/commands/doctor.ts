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

/** Checks the usual causes of failures. */
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
      detail: isUp ? `${base.host} accepts connections` : `nothing listens at ${base.host}; start the service with: groundtrack up`,
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
    const end = (isOpen: boolean) => {
      socket.destroy()
      resolve(isOpen)
    }
    socket
      .on('connect', () => end(true))
      .on('error', () => end(false))
      .on('timeout', () => end(false))
  })
}

const fetchWithTimeout = (url: string) => globalThis.fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })

async function probe(check: string, url: string, ok: string, bad: string): Promise<Finding> {
  try {
    const response = await fetchWithTimeout(url)
    return { check, ok: response.ok, detail: response.ok ? ok : `${bad} (HTTP ${response.status})` }
  } catch (error) {
    return { check, ok: false, detail: `${bad} (${error instanceof Error ? error.message : String(error)})` }
  }
}

const health = (server: string) => probe('service', `${server}/health`, 'healthy', 'not a Groundtrack service, or not healthy')
const database = (server: string) => probe('database', `${server}/ready`, 'ready', 'the service is not ready')

async function clock(server: string): Promise<Finding> {
  const before = Date.now()
  const date = Date.parse((await fetchWithTimeout(`${server}/health`)).headers.get('date') ?? '')
  // The Date header has a resolution of one second.
  const skew = Number.isNaN(date) ? 0 : Math.max(0, Math.abs(date + 500 - (before + Date.now()) / 2) - 500)
  const ok = skew <= MAX_SKEW_MS
  return {
    check: 'clock',
    ok,
    detail: ok
      ? "in sync with the service's clock"
      : `${Math.round(skew / 1000)} s off from the service's clock; signed URLs and tokens will fail`,
  }
}

async function store(base: URL, port: number): Promise<Finding> {
  const at = Number(process.env['STORE_PORT'] ?? port + 1)
  const ok = await listens(base.hostname, at)
  return {
    check: 'store',
    ok,
    detail: ok ? `listens at ${base.hostname}:${at}` : `nothing listens at ${base.hostname}:${at}; expected with S3 or another STORE_PORT`,
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
  if (!apiKey && !session) return { check: 'credential', ok: false, detail: 'not signed in; run: groundtrack sign-in' }
  try {
    const { name, plan } = await connect(options).call<{ name: string; plan: string }>('organizations.get', {}, { maxRetries: 0 }, 'read')
    return { check: 'credential', ok: true, detail: `organization ${name} (${plan})` }
  } catch (error) {
    return { check: 'credential', ok: false, detail: error instanceof Error ? error.message : String(error) }
  }
}

const OPENERS: Readonly<Record<string, string>> = { darwin: 'open', win32: 'explorer' }

/** Prints the URL of a page and opens it in the browser, if there is one. */
export const open: Run = async (rest, options) => {
  const { positions } = readFlags(rest, { positions: 1 })
  const { server } = accountOf(options)
  const [target = 'app'] = positions
  const url = target === 'app' ? `${server}/` : target === 'docs' ? `${server}/docs` : `${server}/app/items/${encodeURIComponent(target)}`
  await print(`${url}\n`)
  const child = spawn(OPENERS[process.platform] ?? 'xdg-open', [url], { stdio: 'ignore', detached: true })
  child.on('error', () => note('Could not start a browser; open the URL yourself', options.quiet))
  child.unref()
}
