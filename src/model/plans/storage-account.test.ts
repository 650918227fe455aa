import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import * as plans from './plan.ts'
import * as projects from '#model/identity/project.ts'
import * as storageAccounts from './storage-account.ts'
import { Problem } from '#core/problem.ts'
import { world } from '../../../test/support/world.ts'

const GIB = 1024 ** 3

// Goal: concurrent reservations never exceed the storage quota, and what was reserved is released in full.
test('storage account', async (t) => {
  const w = await world(t)
  const inTransaction = <T>(work: (tx: Parameters<typeof storageAccounts.reserve>[0]) => Promise<T>) => w.db.transaction().execute(work)

  await t.test('200 reservations of 1 GiB at once: exactly ten fit the free plan', async () => {
    const { id } = await w.organization()
    const results = await Promise.allSettled(Array.from({ length: 200 }, () => inTransaction((tx) => storageAccounts.reserve(tx, id, GIB))))
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 10)
    const refused = results.find((result) => result.status === 'rejected')!.reason as Problem
    assert.deepEqual([refused.status, refused.title, refused.members], [402, 'Storage Quota Exceeded', { used: 10 * GIB, limit: 10 * GIB }])
    assert.deepEqual(await storageAccounts.get(w.db, id), { usedBytes: 0, reservedBytes: 10 * GIB })
  })

  await t.test('any sequence of reservations, settlements and releases matches a simple model', async () => {
    const step = fc.record({ what: fc.constantFrom('reserve', 'release', 'settle'), bytes: fc.integer({ min: 0, max: 6 * GIB }) })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const { id, projectId } = await w.organization()
        const open: number[] = []
        let used = 0
        for (const { what, bytes } of steps) {
          const reservedTotal = open.reduce((sum, each) => sum + each, 0)
          if (what === 'reserve') {
            const fits = used + reservedTotal + bytes <= plans.FREE_PLAN.storageBytes
            await inTransaction((tx) => storageAccounts.reserve(tx, id, bytes)).then(
              () => {
                assert.ok(fits)
                open.push(bytes)
              },
              (error: unknown) => {
                assert.ok(error instanceof Problem)
                assert.ok(!fits)
              },
            )
          } else if (open.length > 0 && what === 'release') {
            await inTransaction((tx) => storageAccounts.release(tx, id, open.pop()!))
          } else if (open.length > 0) {
            const reserved = open.at(-1)!
            const fits = bytes <= reserved || used + reservedTotal - reserved + bytes <= plans.FREE_PLAN.storageBytes
            const stored = inTransaction(async (tx) => {
              await storageAccounts.settle(tx, id, { reserved, stored: bytes })
              await projects.account(tx, projectId, { bytes }, w.clock.now())
            })
            await stored.then(
              () => {
                assert.ok(fits)
                open.pop()
                used += bytes
              },
              (error: unknown) => {
                assert.ok(error instanceof Problem)
                assert.ok(!fits)
              },
            )
          }
          assert.deepEqual(await storageAccounts.get(w.db, id), {
            usedBytes: used,
            reservedBytes: open.reduce((sum, each) => sum + each, 0),
          })
        }
      }),
      { numRuns: 8 },
    )
  })

  await t.test('a plan gives spans without gaps', async () => {
    const { id } = await w.organization()
    const at = (day: number) => new Date(Date.UTC(2030, 0, day))
    await w.db
      .insertInto('organization_plan')
      .values([
        { org_id: id, plan_id: 'team', started_at: at(10) },
        { org_id: id, plan_id: 'free', started_at: at(20) },
      ])
      .execute()
    const spans = await plans.planSpans(w.db, id, at(5), at(31))
    assert.deepEqual(
      spans.map((span) => [span.plan.id, span.from, span.to]),
      [
        ['free', at(5), at(10)],
        ['team', at(10), at(20)],
        ['free', at(20), at(31)],
      ],
    )
    assert.deepEqual(
      (await plans.planSpans(w.db, id, at(12), at(13))).map((span) => span.plan.id),
      ['team'],
    )
    assert.equal((await plans.planOf(w.db, id)).id, 'free')
  })
})
