/** CPU time of processes, from Linux's own accounts. */
import { readFileSync } from 'node:fs'

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

/** A process with its children, those that ended too; without the ones named. */
export function treeCpuMs(pid: number, without: readonly number[] = []): number {
  const own = stat(pid)
  let ticks = own[11]! + own[12]! + own[13]! + own[14]!
  for (const task of readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)) {
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
