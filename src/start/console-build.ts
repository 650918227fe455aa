/** Builds the console in the background if it is missing or older than its source. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { CONSOLE_FOLDER, type ConsoleProgress } from '#http/pages/console.ts'

const root = path.join(import.meta.dirname, '../..')
const SOURCES = [
  'packages/console/{src,first}/**/*',
  'packages/console/{index.html,vite.config.ts,package.json}',
  'packages/client/src/**/*',
]
const STAMP = path.join(CONSOLE_FOLDER, 'stamp.txt')
const BUILD_TIMEOUT_MS = 300_000
const MAX_OUTPUT = 4_000

/** A hash of the source, to tell whether the build is current. */
function stampOfSource(): string {
  const hash = createHash('sha256')
  for (const file of globSync(SOURCES, { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .toSorted())
    hash.update(path.relative(root, file)).update(readFileSync(file))
  return hash.digest('hex')
}

const isBuilt = (stamp: string): boolean => existsSync(STAMP) && readFileSync(STAMP, 'utf8') === stamp

export interface ConsoleBuild {
  progress(): ConsoleProgress
  /** Does nothing if the build is current. */
  run(signal: AbortSignal): Promise<void>
}

export function createConsoleBuild(): ConsoleBuild {
  const stamp = stampOfSource()
  const isCurrent = isBuilt(stamp)
  let state: ConsoleProgress = { building: isCurrent ? null : 'Waiting to start', failure: null }
  return {
    progress: () => state,
    async run(signal) {
      if (isCurrent) return
      try {
        await build(stamp, signal, (line) => {
          state = { building: line, failure: null }
        })
        state = { building: null, failure: null }
      } catch (error) {
        state = { building: null, failure: `The console could not be built: ${(error as Error).message}` }
        throw error
      }
    },
  }
}

/** Builds into a temporary folder, which then replaces the old one, so that no request gets a partial console. */
async function build(stamp: string, signal: AbortSignal, onLine: (line: string) => void): Promise<void> {
  const fresh = `${CONSOLE_FOLDER}-${process.pid}`
  const old = `${fresh}-old`
  try {
    await runVite(fresh, signal, onLine)
    if (isBuilt(stamp)) return // Another process was faster, and its files may already be in use.
    await writeFile(path.join(fresh, 'stamp.txt'), stamp)
    // Moved, not deleted: deleting takes so long that requests would find no console meanwhile.
    await rename(CONSOLE_FOLDER, old).catch(() => {})
    await rename(fresh, CONSOLE_FOLDER).catch((error: unknown) => {
      if (!isBuilt(stamp)) throw error
    })
  } finally {
    await Promise.all([fresh, old].map((folder) => rm(folder, { recursive: true, force: true })))
  }
}

function runVite(outDir: string, signal: AbortSignal, onLine: (line: string) => void): Promise<void> {
  const vite = path.join(
    path.dirname(createRequire(path.join(root, 'packages/console/package.json')).resolve('vite/package.json')),
    'bin/vite.js',
  )
  const child = spawn(process.execPath, [vite, 'build', '--outDir', outDir], {
    cwd: path.join(root, 'packages/console'),
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], NO_COLOR: '1', NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: BUILD_TIMEOUT_MS,
    signal,
  })
  let output = ''
  const take = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-MAX_OUTPUT)
    const line = output
      .trim()
      .split(/[\r\n]+/)
      .at(-1)
    if (line) onLine(line)
  }
  child.stdout.on('data', take)
  child.stderr.on('data', take)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(output.trim() || `vite ended with ${code}`))))
  })
}
