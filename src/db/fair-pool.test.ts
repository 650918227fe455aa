import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import fc from 'fast-check'
import type { PostgresPool, PostgresPoolClient } from 'kysely'
import { forTenant } from '#core/tenant.ts'
import { campaign } from '../../test/support/campaign.ts'
import { fairly, type FairLimits } from './fair-pool.ts'

/** A tenant is remembered for two rounds at most. */
const ROUND_MS = 1_000
const ROUNDS = 3
const NEVER_MS = 2 ** 30

/** Connections without a server, so that every order of events can be tried: only who has how many matters here. */
function openLines(t: TestContext, limits: FairLimits) {
  // Each has a clock of its own: one that kept the timers of all before would take longer each time.
  t.mock.timers.reset()
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const idle: PostgresPoolClient[] = []
  const pool = {
    connect: async () => idle.pop() ?? ({ release() {} } as unknown as PostgresPoolClient),
    end: async () => {},
  } as PostgresPool
  const shared = fairly(pool, limits)
  const held = new Map<string, PostgresPoolClient[]>()
  const waiting = new Map<string, number[]>()
  /** The requests of each tenant, in the order in which they were served. */
  const served = new Map<string, number[]>()
  let next = 0
  const of = <T>(map: Map<string, T[]>, tenant: string): T[] => {
    if (!map.has(tenant)) map.set(tenant, [])
    return map.get(tenant)!
  }
  const settle = () => new Promise<void>((resolve) => void setImmediate(resolve))
  return {
    held: (tenant: string) => of(held, tenant).length,
    waiting: (tenant: string) => of(waiting, tenant).length,
    served: (tenant: string) => of(served, tenant),
    total: () => [...held.values()].flat().length,
    async take(tenant: string): Promise<void> {
      const request = next++
      of(waiting, tenant).push(request)
      void forTenant(tenant, () => shared.connect()).then((client) => {
        of(waiting, tenant).splice(of(waiting, tenant).indexOf(request), 1)
        of(held, tenant).push(client)
        of(served, tenant).push(request)
      })
      await settle()
    },
    async end(tenant: string): Promise<void> {
      const client = of(held, tenant).shift()
      if (!client) return
      client.release()
      idle.push(client)
      await settle()
    },
    async later(): Promise<void> {
      for (let round = 0; round < ROUNDS; round++) t.mock.timers.tick(ROUND_MS)
      await settle()
    },
  }
}

type Lines = ReturnType<typeof openLines>
type Step = { tenant: string } & ({ does: 'take' } | { does: 'end' } | { does: 'wait' })

const TENANTS = ['a', 'b', 'c', 'd']

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    tenant: fc.constantFrom('a', 'a', 'a', 'b', 'c', 'd'), // One of them wants more than the others.
    does: fc.constantFrom('take', 'take', 'take', 'end', 'end', 'wait'),
  }) as fc.Arbitrary<Step>,
  { maxLength: 80 },
)

/** A newcomer needs at least one connection beside the share of another. */
const limits: fc.Arbitrary<FairLimits> = fc
  .record({ maxConnections: fc.integer({ min: 3, max: 20 }), part: fc.double({ min: 0, max: 1, noNaN: true }) })
  .map(({ maxConnections, part }) => {
    const maxRunningPerTenant = 1 + Math.floor(part * (maxConnections - 2))
    const maxInUseAlone = maxRunningPerTenant + Math.floor((1 - part) * (maxConnections - 1 - maxRunningPerTenant))
    return { maxConnections, maxRunningPerTenant, maxInUseAlone, maxWaitingPerTenant: 1_000, maxWaitMs: NEVER_MS }
  })

async function act(lines: Lines, { does, tenant }: Step): Promise<void> {
  if (does === 'take') await lines.take(tenant)
  else if (does === 'end') await lines.end(tenant)
  else await lines.later()
}

// Goal: whatever tenants do, nobody has more than a share while there are others, whoever comes to a pool that one tenant uses is served
// at once, and no connection is idle that a tenant who waits could have.
test('fair pool', async (t) => {
  const numRuns = campaign({ short: 150, long: 3_000 })

  await t.test('a tenant beyond its share is alone, and leaves the reserve', async () => {
    await fc.assert(
      fc.asyncProperty(limits, steps, async (limit, all) => {
        const lines = openLines(t, limit)
        for (const step of all) {
          const before = new Map(TENANTS.map((tenant) => [tenant, lines.held(tenant)]))
          await act(lines, step)
          assert.ok(lines.total() <= limit.maxConnections)
          for (const tenant of TENANTS) {
            if (lines.held(tenant) <= Math.max(before.get(tenant)!, limit.maxRunningPerTenant)) continue
            const others = TENANTS.filter((each) => each !== tenant)
            assert.ok(
              others.every((each) => lines.held(each) === 0 && lines.waiting(each) === 0),
              'it is alone',
            )
            assert.ok(lines.total() <= limit.maxInUseAlone, 'others find one free')
          }
        }
      }),
      { numRuns },
    )
  })

  await t.test('whoever comes while one tenant has connections is served at once', async () => {
    await fc.assert(
      fc.asyncProperty(limits, fc.array(fc.constantFrom('take', 'end', 'wait')), async (limit, all) => {
        const lines = openLines(t, limit)
        for (const does of all) await act(lines, { does, tenant: 'a' } as Step)
        await lines.take('b')
        assert.equal(lines.held('b'), 1)
      }),
      { numRuns },
    )
  })

  await t.test('nobody waits for a connection that is free and within its limit; everybody is served in order', async () => {
    await fc.assert(
      fc.asyncProperty(limits, steps, async (limit, all) => {
        const lines = openLines(t, limit)
        for (const step of all) await act(lines, step)
        await lines.later()
        const present = TENANTS.filter((tenant) => lines.held(tenant) + lines.waiting(tenant) > 0)
        for (const tenant of TENANTS.filter((each) => lines.waiting(each) > 0)) {
          const isAtItsLimit =
            lines.held(tenant) >= limit.maxRunningPerTenant && (present.length > 1 || lines.total() >= limit.maxInUseAlone)
          assert.ok(isAtItsLimit || lines.total() === limit.maxConnections, `${tenant} waits for nothing`)
        }
        while (lines.total() > 0) for (const tenant of TENANTS) await lines.end(tenant)
        for (const tenant of TENANTS) {
          assert.equal(lines.waiting(tenant), 0)
          assert.deepEqual(
            lines.served(tenant),
            lines.served(tenant).toSorted((a, b) => a - b),
          )
        }
      }),
      { numRuns },
    )
  })

  await t.test('a tenant that borrowed returns to its share as others come, and borrows again when they have left', async () => {
    const lines = openLines(t, {
      maxConnections: 16,
      maxRunningPerTenant: 6,
      maxInUseAlone: 12,
      maxWaitingPerTenant: 500,
      maxWaitMs: NEVER_MS,
    })
    for (let n = 0; n < 40; n++) await lines.take('a')
    assert.equal(lines.held('a'), 12)
    for (let n = 0; n < 10; n++) await lines.take('b')
    assert.equal(lines.held('b'), 4, 'what was free')
    for (let n = 0; n < 6; n++) await lines.end('a')
    assert.deepEqual([lines.held('a'), lines.held('b')], [6, 6])
    for (let n = 0; n < 10; n++) await lines.end('b')
    assert.deepEqual([lines.held('a'), lines.held('b')], [6, 0])
    await lines.end('a')
    assert.equal(lines.held('a'), 6, 'b may come back at any moment')
    await lines.later()
    assert.equal(lines.held('a'), 12, 'without waiting for anything to end')
  })
})
