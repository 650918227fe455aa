/**
 * Goal: whatever happens to processes, hosts, disks, clocks and the network of a cluster, no acknowledged write is lost or applied twice,
 * nothing is torn, nobody is answered with 500, and the service recovers by itself; and all processes can be restarted one by one,
 * upgraded and rolled back, while requests come in through HAProxy and nginx with their defaults, and none fails.
 *
 * FAULTS=200 does so many faults and, except in CI, also holds the times against their limits; TEST_SEED repeats their order,
 * FAULT=<regular expression> selects some, and CLUSTER_RESULTS=<file> collects what was seen, for `verified.ts`. RATE=100 rolls out
 * at so many requests a second; UPGRADE_FROM=<folder of another checkout> begins with that version. CLUSTER_LOGS=<folder> keeps the
 * logs of all programs.
 */
import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import { campaign, testSeed } from '../support/campaign.ts'
import { STRICT, type CampaignResult, type CampaignSettings, type Limits } from './campaign.ts'
import { inCluster, noCluster } from './enter.ts'
import type { RollingResult, RollingSettings } from './rolling.ts'

const { FAULTS, FAULT, RATE, UPGRADE_FROM, CLUSTER_RESULTS } = process.env
const isLong = campaign({ short: false, ci: false, long: true })
const skipUnless = (isWanted: boolean, setting: string) =>
  isWanted || isLong ? (noCluster() ?? false) : `a cluster takes many minutes: CAMPAIGN=long or ${setting}=<number> starts it`
/** Seconds. Strict on demand; a machine of CI is shared, and tests that run beside each other wait for each other. */
const LIMITS: Limits =
  FAULTS && campaign({ short: true, ci: false, long: true }) ? STRICT : { slow: 10, call: 60, recovery: 180, failover: 180 }

test('rolling restart, upgrade and rollback', { skip: skipUnless(RATE !== undefined, 'RATE') }, async (t) => {
  const settings: RollingSettings = { rate: Number(RATE ?? 100), from: UPGRADE_FROM ?? null }
  const { rollouts } = await inCluster<RollingResult>('rolling', settings, (line) => t.diagnostic(line))
  assert.equal(rollouts.length, 3)
  for (const { name, requests, failed } of rollouts) {
    assert.ok(requests > 0)
    assert.deepEqual(failed, [], name)
  }
})

test('faults', { skip: skipUnless(FAULTS !== undefined, 'FAULTS') }, async (t) => {
  const seed = testSeed
  t.diagnostic(`TEST_SEED=${seed}`)
  const faults = Number(FAULTS ?? 50)
  const settings: CampaignSettings = {
    seed,
    faults,
    only: FAULT ?? '',
    slowMs: LIMITS.slow * 1_000,
    results: CLUSTER_RESULTS ? path.resolve(CLUSTER_RESULTS) : null,
  }
  const { rounds, acknowledged, leftOut } = await inCluster<CampaignResult>('campaign', settings, (line) => t.diagnostic(line))
  for (const line of leftOut) t.diagnostic(`left out: ${line}`)
  assert.equal(rounds.length, faults)
  assert.ok(acknowledged > 0, 'something was written')
  for (const { fault, isFailover, broken, longestSeconds, recoverySeconds } of rounds) {
    assert.deepEqual(broken, [], fault)
    assert.ok(longestSeconds < LIMITS.call, `${fault}: a call took ${longestSeconds} s`)
    const limit = isFailover ? LIMITS.failover : LIMITS.recovery
    assert.ok(recoverySeconds !== null && recoverySeconds < limit, `${fault}: recovered in ${recoverySeconds} s, not within ${limit} s`)
  }
})
