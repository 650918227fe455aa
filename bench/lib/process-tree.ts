/** Processes and what they use, by /proc. */
import fs from 'node:fs'
import { isAlive } from '../../test/support/service.ts'

const CLOCK_TICKS = 100
const KIB_PER_MB = 1024

/** A process and all that it started. */
export function treeOf(pid: number): number[] {
  const parents = fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), parentOf(Number(name))] as const)
  const pids = [pid]
  for (const current of pids) pids.push(...parents.filter(([, parent]) => parent === current).map(([child]) => child))
  return pids.filter(isAlive)
}

function statOf(pid: number): string[] {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return []
  }
}

const parentOf = (pid: number) => Number(statOf(pid)[1] ?? 0)

export const cpuSecondsOf = (pid: number): number => (Number(statOf(pid)[11] ?? 0) + Number(statOf(pid)[12] ?? 0)) / CLOCK_TICKS

/** Empty if it has ended. */
export function commandOf(pid: number): string {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
  } catch {
    return ''
  }
}

export interface Memory {
  rssMb: number
  /** Pages that several processes share count in parts: the sum of all is what the machine gives them. */
  pssMb: number
}

/** Null if it has ended. */
export function memoryOf(pid: number): Memory | null {
  try {
    const rollup = fs.readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
    const mb = (name: string) => Number(new RegExp(`^${name}: +(\\d+) kB`, 'm').exec(rollup)?.[1] ?? 0) / KIB_PER_MB
    return { rssMb: mb('Rss'), pssMb: mb('Pss') }
  } catch {
    return null
  }
}
