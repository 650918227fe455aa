/** CPU time of processes, from Linux's own accounts. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const MS_PER_TICK = 10

const stat = (pid: number): number[] => {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
}

/** A process without its children. */
export function ownCpuMs(pid: number): number {
  const fields = stat(pid)
  return (fields[11]! + fields[12]!) * MS_PER_TICK
}

/** Of a process's first thread, its event loop, to the microsecond: what others on the machine do is not in it. */
export function loopCpuMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ', 1)[0]) / 1e6
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)

/** Answers each line of process IDs with their CPU time in nanoseconds, which Node cannot ask for: threads that ended are in it. */
const CPU_CLOCK = `
import sys, time
for line in sys.stdin:
    print(sum(time.clock_gettime_ns((~int(pid) << 3) | 2) for pid in line.split()), flush=True)
`

/** CPU time of processes and their children to the microsecond; without the children named. Needs Python. */
export function startCpuClock(python: string) {
  const clock = spawn(python, ['-c', CPU_CLOCK], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: clock.stdout })[Symbol.asyncIterator]()
  return {
    async ms(pid: number, without: readonly number[] = []): Promise<number> {
      const pids = [pid, ...childrenOf(pid).filter((child) => !without.includes(child) && child !== clock.pid)]
      clock.stdin.write(`${pids.join(' ')}\n`)
      return Number((await lines.next()).value) / 1e6
    },
    stop: () => void clock.kill(),
  }
}

/** The most memory that each child of a process had so far, in MB. */
export function childrenPeakMb(pid: number, without: readonly number[] = []): number[] {
  return childrenOf(pid)
    .filter((child) => !without.includes(child))
    .map((child) => Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${child}/status`, 'utf8'))![1]) / 1024)
}

/** A process with its children, those that ended too; without the ones named. */
export function treeCpuMs(pid: number, without: readonly number[] = []): number {
  const own = stat(pid)
  let ticks = own[11]! + own[12]! + own[13]! + own[14]!
  for (const task of childrenOf(pid)) {
    if (without.includes(task)) continue
    try {
      const fields = stat(task)
      ticks += fields[11]! + fields[12]!
    } catch {
      /* It has just ended. */
    }
  }
  return ticks * MS_PER_TICK
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}
