// Goal: the page that says what is verified of failures and failover has a row for every fault that the campaign knows, and no other;
// and its table counts what was lost, what was never run, and every time that a limit was exceeded.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Round } from './campaign.ts'
import { table } from './verified.ts'

const nameOf = (line: string): string => line.split(' | ')[0]!

test('docs/failover-verified.md', () => {
  const page = readFileSync(new URL('../../docs/failover-verified.md', import.meta.url), 'utf8')
  const rows = page.split('\n').filter((line) => line.startsWith('| '))
  assert.deepEqual(rows.map(nameOf), table([]).map(nameOf))
})

test('the table', () => {
  const round = (change: Partial<Round>): Round => ({
    fault: 'switchover',
    what: 'pg1',
    isFailover: true,
    acknowledged: 1_000,
    calls: 2_000,
    statuses: { 200: 2_000 },
    longestSeconds: 2,
    longestOperation: 'projects.get',
    recoverySeconds: 20,
    broken: [],
    ...change,
  })
  const rowOf = (...rounds: Round[]) => table(rounds).find((line) => line.startsWith('| switchover'))
  assert.equal(rowOf(), '| switchover | 0 | – | – | – | – | – |')
  assert.equal(rowOf(round({}), round({ recoverySeconds: 44 })), '| switchover | 2 | 2,000 | 0 | 44.0 | 2.0 | 0 |')
  assert.equal(rowOf(round({ isFailover: false }), round({ longestSeconds: 36 })), '| switchover | 2 | 2,000 | 0 | 20.0 | 36.0 | 2 |')
  assert.equal(rowOf(round({ recoverySeconds: null, broken: ['lost'] })), '| switchover | 1 | 1,000 | 1 | never | 2.0 | 1 |')
})
