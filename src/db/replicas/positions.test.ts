// Goal: the lag of a replica is how long ago the primary passed what it has not replayed; behind an idle primary nobody lags.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseLsn } from './lsn.ts'
import { Positions } from './positions.ts'

test('positions in the log are numbers', () => {
  assert.equal(parseLsn('0/0'), 0n)
  assert.equal(parseLsn('16/B374D848'), 0x16b374d848n)
  assert.ok(parseLsn('2/0') > parseLsn('1/FFFFFFFF'))
})

test('lag', () => {
  const positions = new Positions(10_000)
  assert.equal(positions.lagMs(0n, 5_000), 0, 'nothing is known of the primary')
  for (const [atMs, lsn] of [
    [0, 100n],
    [1_000, 200n],
    [2_000, 300n],
    [3_000, 300n], // Idle from here on.
  ] as const)
    positions.add(atMs, lsn)
  assert.equal(positions.lagMs(300n, 60_000), 0, 'idle')
  assert.equal(positions.lagMs(250n, 2_500), 500)
  assert.equal(positions.lagMs(100n, 2_500), 1_500)
  assert.equal(positions.lagMs(-1n, 2_500), 2_500, 'at least')
})

test('positions are bounded, and reach back further than the limit', () => {
  const positions = new Positions(10_000)
  for (let atMs = 0; atMs < 1_000_000; atMs += 10) positions.add(atMs, BigInt(atMs))
  const lag = positions.lagMs(0n, 1_000_000)
  assert.ok(lag > 10_000 && lag <= 20_000, `${lag}`)
  positions.clear()
  assert.equal(positions.lagMs(0n, 1_000_000), 0)
})
