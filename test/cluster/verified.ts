/**
 * Prints the table of docs/failover-verified.md from what campaigns have seen: `node test/cluster/verified.ts <files>`, the files that
 * CLUSTER_RESULTS named.
 */
import fs from 'node:fs'
import type { Round } from './campaign.ts'
import { FAULT_NAMES } from './faults.ts'

const rounds = process.argv
  .slice(2)
  .flatMap((file) => fs.readFileSync(file, 'utf8').split('\n').filter(Boolean))
  .map((line) => JSON.parse(line) as Round)

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
const seconds = (values: readonly number[]): string => Math.max(0, ...values).toFixed(1)

function row(name: string, of: readonly Round[]): string {
  const unrecovered = of.filter(({ recoverySeconds }) => recoverySeconds === null).length
  const cells = [
    name,
    of.length,
    sum(of.map(({ acknowledged }) => acknowledged)).toLocaleString('en'),
    sum(of.map(({ broken }) => broken.length)),
    `${seconds(of.map(({ recoverySeconds }) => recoverySeconds ?? 0))}${unrecovered > 0 ? `, ${unrecovered} not` : ''}`,
    seconds(of.map(({ longestSeconds }) => longestSeconds)),
  ]
  return `| ${cells.join(' | ')} |`
}

console.log(`| Fault | Times | Writes acknowledged | Lost, twice, torn or 500 | Worst recovery (s) | Longest call (s) |
| --- | ---: | ---: | ---: | ---: | ---: |`)
for (const name of FAULT_NAMES)
  console.log(
    row(
      name,
      rounds.filter(({ fault }) => fault === name),
    ),
  )
console.log(row('**all**', rounds))
