/**
 * Goal: whatever happens to processes, hosts, disks, clocks and the network of a cluster, no acknowledged write is lost or applied twice,
 * nothing is torn, nobody is answered with 500, and the service recovers by itself; and all processes can be restarted one by one,
 * upgraded and rolled back, while requests come in through HAProxy and nginx with their defaults, and none fails.
 *
 * FAULTS=200 does so many faults and also holds the times against their limits; TEST_SEED repeats their order, and FAULT=<regular
 * expression> selects some. RATE=100 is the requests a second during rollouts; UPGRADE_FROM=<folder of another checkout>
 * begins with that version. CLUSTER_LOGS=<folder> keeps the logs of all programs.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { campaign, testSeed } from '../support/campaign.ts'
import type { CampaignResult, CampaignSettings } from './campaign.ts'
import { inCluster, noCluster } from './enter.ts'
import type { RollingResult, RollingSettings } from './rolling.ts'

const { FAULTS, FAULT, RATE, UPGRADE_FROM } = process.env
const isWanted = FAULTS !== undefined || RATE !== undefined || campaign({ short: false, ci: false, long: true })
const skip = isWanted ? (noCluster() ?? false) : 'a cluster takes many minutes: CAMPAIGN=long, FAULTS=<number> or RATE=<number> starts it'
/** Faults of at most half a minute, for runs that somebody waits for; FAULTS and CAMPAIGN=long try all. */
const QUICK = 'kill -9 of an API|switchover|clock|packets dropped between|S3 down|disk full at a worker|SIGSTOP of the primary'
/** Seconds; held only on demand, because tests that run beside each other wait for each other. */
const LIMITS = FAULTS ? { slow: 1, call: 35, recovery: 15, failover: 45 } : { slow: 10, call: 60, recovery: 180, failover: 180 }

test('rolling restart, upgrade and rollback', { skip }, async (t) => {
  const settings: RollingSettings = {
    rate: Number(RATE ?? campaign({ short: 20, ci: 20, long: 100 })),
    hasRestart: campaign({ short: false, ci: false, long: true }),
    from: UPGRADE_FROM ?? null,
  }
  const { rollouts } = await inCluster<RollingResult>('rolling', settings, (line) => t.diagnostic(line))
  assert.equal(rollouts.length, settings.hasRestart ? 3 : 2)
  for (const { name, requests, failed } of rollouts) {
    assert.ok(requests > 0)
    assert.deepEqual(failed, [], name)
  }
})

test('faults', { skip }, async (t) => {
  const seed = testSeed
  t.diagnostic(`TEST_SEED=${seed}`)
  const faults = Number(FAULTS ?? campaign({ short: 2, ci: 3, long: 50 }))
  const settings: CampaignSettings = {
    seed,
    faults,
    only: FAULT ?? (FAULTS ? '' : campaign({ short: QUICK, ci: QUICK, long: '' })),
    slowMs: LIMITS.slow * 1_000,
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
