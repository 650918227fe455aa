/**
 * The table of docs/failover-verified.md. `node test/cluster/verified.ts <files>` prints it from what campaigns have seen; CLUSTER_RESULTS
 * named the files.
 */
import fs from 'node:fs'
import { STRICT, type Round } from './campaign.ts'
import { FAULT_NAMES } from './faults.ts'

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
const seconds = (values: readonly number[]): string => Math.max(0, ...values).toFixed(1)

const isOver = ({ isFailover, recoverySeconds, longestSeconds }: Round): boolean =>
  longestSeconds >= STRICT.call || recoverySeconds === null || recoverySeconds >= (isFailover ? STRICT.failover : STRICT.recovery)

function row(name: string, of: readonly Round[]): string {
  if (of.length === 0) return `| ${name} | 0 | – | – | – | – | – |`
  const hasRecovered = of.every(({ recoverySeconds }) => recoverySeconds !== null)
  const cells = [
    name,
    of.length,
    sum(of.map(({ acknowledged }) => acknowledged)).toLocaleString('en'),
    sum(of.map(({ broken }) => broken.length)),
    hasRecovered ? seconds(of.map(({ recoverySeconds }) => recoverySeconds!)) : 'never',
    seconds(of.map(({ longestSeconds }) => longestSeconds)),
    of.filter(isOver).length,
  ]
  return `| ${cells.join(' | ')} |`
}

/** A row for every kind of fault, also for those that have not been run, and one for all. */
export function table(rounds: readonly Round[]): string[] {
  const ofKind = (name: string) => rounds.filter(({ fault }) => fault === name)
  return [
    '| Fault | Times | Writes acknowledged | Lost, twice, torn or 500 | Worst recovery (s) | Longest call (s) | Times over a limit |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...FAULT_NAMES.map((name) => row(name, ofKind(name))),
    row('**all**', rounds),
  ]
}

if (import.meta.main) {
  const lines = process.argv.slice(2).flatMap((file) => fs.readFileSync(file, 'utf8').split('\n').filter(Boolean))
  console.log(table(lines.map((line) => JSON.parse(line) as Round)).join('\n'))
}
