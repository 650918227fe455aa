/**
 * Ends a test file that will not end. Node's runner marks a test that takes too long as failed and sends its process SIGTERM, and
 * then waits for that process, and for whatever holds its output, for ever. Linux only: elsewhere a run may hang as it always could.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import os from 'node:os'

const LOOK_EVERY_MS = 5_000
/** What a file left behind has so long to go by itself. */
const GRACE_MS = 15_000

interface Running {
  pid: number
  parent: number
  /** In ticks since boot: with the id it names a process for good. */
  startedAt: string
  command: string
}

interface Watched {
  name: string
  /** Of the machine: less than passed by the clock where others use it too. */
  hadMs: number
  seenMs: number
  /** Every process that was seen below it, by id. */
  below: Map<number, Running>
  endedMs: number | null
}

interface Watchdog {
  close(): void
}

interface Options {
  /** What a file may take on a machine of its own. */
  limitMs: number
  /** The test file that a command runs, or null. */
  nameOf: (command: string) => string | null
  say: (line: string) => void
}

/** Watches the children of this process. */
export function watchFiles(options: Options): Watchdog {
  if (!existsSync('/proc/self/stat')) return { close: () => {} }
  const files = new Map<number, Watched>()
  const timer = setInterval(() => look(files, options), LOOK_EVERY_MS)
  timer.unref()
  return { close: () => clearInterval(timer) }
}

function look(files: Map<number, Watched>, { limitMs, nameOf, say }: Options): void {
  const now = performance.now()
  const share = Math.min(1, os.availableParallelism() / os.loadavg()[0]!)
  const running = processes()
  const children = Map.groupBy(running.values(), (child) => child.parent)
  for (const { pid, command } of children.get(process.pid) ?? []) {
    const name = nameOf(command)
    if (name && !files.has(pid)) files.set(pid, { name, hadMs: 0, seenMs: now, below: new Map(), endedMs: null })
  }
  for (const [pid, file] of files) {
    for (const descendant of descendants(pid, children)) file.below.set(descendant.pid, descendant)
    if (running.has(pid)) {
      file.hadMs += (now - file.seenMs) * share
      file.seenMs = now
      if (file.hadMs < limitMs) continue
      say(`✖ ${file.name} has not ended within its ${Math.round(limitMs / 1000)} s of this machine and is stopped`)
      end(pid, [...file.below.values()], running)
      files.delete(pid)
      continue
    }
    file.endedMs ??= now
    if (now - file.endedMs < GRACE_MS) continue
    const left = [...file.below.values()].filter((child) => running.get(child.pid)?.startedAt === child.startedAt)
    if (left.length > 0)
      say(`ℹ ${file.name} left running, and ended for it: ${left.map((child) => child.command.slice(0, 100)).join(' | ')}`)
    end(null, left, running)
    files.delete(pid)
  }
}

function end(pid: number | null, below: readonly Running[], running: ReadonlyMap<number, Running>): void {
  if (pid !== null) kill(pid)
  for (const child of below) if (running.get(child.pid)?.startedAt === child.startedAt) kill(child.pid)
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}

function descendants(pid: number, children: ReadonlyMap<number, readonly Running[]>): Running[] {
  return (children.get(pid) ?? []).flatMap((child) => [child, ...descendants(child.pid, children)])
}

function processes(): Map<number, Running> {
  const processes = new Map<number, Running>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      // The second field is a name in brackets that may contain anything.
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (fields[0] === 'Z') continue
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
      processes.set(Number(name), { pid: Number(name), parent: Number(fields[1]), startedAt: fields[19]!, command })
    } catch {
      // It has ended between the list and the look.
    }
  }
  return processes
}
