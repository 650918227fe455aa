import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { newId } from '#core/ids.ts'
import { balance, eventsOf, grant, placeArchive, scenes, square, step, work } from '../../../test/orders/support.ts'
import { orderViolations } from '../../../test/orders/invariants.ts'
import { world } from '../../../test/support/world.ts'
import sweep from './sweep.task.ts'
import poll from './poll.task.ts'

// Goal: whatever a vendor does, an order ends: deliveries are charged, the rest is released, and the order states the reason.
test('vendors that fail', async (t) => {
  const w = await world(t, { vendors: true })
  const org = await w.organization()
  await grant(w, org, 1_000_000)
  const [good] = await scenes(w, 'sandbox-flaky')
  const capture = (id: string, west = 2.3, degrees = 0.01) => ({ id, geometry: square(west, 48.2, degrees), host: 'sandbox-flaky' })
  const place = async (...captures: object[]) => {
    const response = await placeArchive(w, org, { captures })
    assert.equal(response.status, 200, response.bytes.toString())
    return response.body as { id: string; totalCredits: number; groups: { id: string }[] }
  }
  const get = (id: string) => w.ok(org.owner.token, 'orders.get', { id })

  await t.test('a vendor fails the order: it has failed with the reason, and all credits are released', async () => {
    const before = await balance(w, org)
    const { id } = await place(capture('fail-order'))
    await work(w, [id])
    const done = await get(id)
    assert.deepEqual([done.status, done.capturedCredits, done.groups[0].status], ['failed', 0, 'failed'])
    assert.match(done.failureReason, /could not produce/)
    assert.equal(done.history.at(-1).reason, done.failureReason)
    assert.deepEqual(await balance(w, org), before)
    assert.deepEqual(await eventsOf(w, id), ['order.created', 'order.placed', 'order.being_fulfilled', 'order.failed'])
  })

  await t.test('a vendor delivers in part: the part is charged, the rest released, and missing scenes are named', async () => {
    const [available] = await balance(w, org)
    const { scenes: sameDay } = await w.platform.services.vendors.catalog('sandbox-flaky').search({
      bbox: [2.3, 48.2, 2.31, 48.21],
      from: new Date('2025-06-12T00:00:00Z'),
      to: new Date('2025-06-12T23:59:59Z'),
      limit: 1,
    })
    const { id, totalCredits } = await place(capture('fail-part', 2.3, 0.02), capture(sameDay[0]!.id))
    await work(w, [id])
    const done = await get(id)
    assert.deepEqual([done.status, done.groups[0].status, done.itemIds.length], ['fulfilled', 'part', 1], JSON.stringify(done))
    assert.ok(done.capturedCredits > 0 && done.capturedCredits < totalCredits, `${done.capturedCredits} of ${totalCredits}`)
    assert.match(done.failureReason, /Not delivered: fail-part/)
    assert.deepEqual(await balance(w, org), [available - done.capturedCredits, 0])
  })

  await t.test('a download is interrupted: it resumes, and the file is complete', async () => {
    const { id, totalCredits } = await place(capture('half'))
    await work(w, [id])
    const done = await get(id)
    assert.deepEqual([done.status, done.capturedCredits], ['fulfilled', totalCredits])
    const [asset] = await w.ok(org.owner.token, 'orders.list_assets', { order_id: id })
    assert.equal((await w.call(org.owner.token, 'items.detect_asset_bands', { item_id: asset.item_id })).status, 200)
  })

  await t.test('a vendor never responds: retried for a day, then failed and released', async () => {
    const before = await balance(w, org)
    const { id } = await place(capture('fail-502'))
    await work(w, [id])
    const done = await get(id)
    assert.deepEqual([done.status, done.itemIds], ['failed', []])
    assert.match(done.failureReason, /sandbox-flaky/)
    assert.deepEqual(await balance(w, org), before)
  })

  await t.test('a forged callback delivers nothing: only the vendor itself is trusted', async () => {
    const { id, groups } = await place(capture(good!.id))
    const before = await get(id)
    for (const reference of [groups[0]!.id, newId(), 'x', id]) {
      const response = await w.post(`/webhooks/vendors/${reference}`, { status: 'delivered', order: { status: 'delivered' } })
      assert.deepEqual([response.status, response.body], [202, { received: true }])
    }
    assert.deepEqual({ ...(await get(id)), updatedAt: null }, { ...before, updatedAt: null })
    await w.runTask(poll, { order_id: id })
    assert.equal((await get(id)).status, 'processing', 'the vendor knows nothing of it yet')
    const [, reserved] = await balance(w, org)
    assert.equal(reserved, before.totalCredits)
    await w.ok(org.owner.token, 'orders.cancel', { id })
  })

  await t.test('an order can be cancelled before the vendor accepts it, not after', async () => {
    const before = await balance(w, org)
    const early = await place(capture(good!.id))
    const key = newId()
    assert.deepEqual(await w.ok(org.owner.token, 'orders.cancel', { id: early.id }, { 'idempotency-key': key }), {
      orderId: early.id,
      status: 'cancelled',
    })
    assert.deepEqual(await w.ok(org.owner.token, 'orders.cancel', { id: early.id }, { 'idempotency-key': key }), {
      orderId: early.id,
      status: 'cancelled',
    })
    assert.equal((await w.call(org.owner.token, 'orders.cancel', { id: early.id })).status, 400, 'once')
    assert.deepEqual(await balance(w, org), before)
    const sent = await place(capture(good!.id))
    await step(w, [sent.id])
    w.clock.advance({ seconds: 1 })
    const late = await w.call(org.owner.token, 'orders.cancel', { id: sent.id })
    assert.deepEqual([late.status, (await get(sent.id)).status], [400, 'processing'], 'the vendor has it, although we did not know yet')
    await work(w, [sent.id])
    assert.equal((await w.call(org.owner.token, 'orders.cancel', { id: sent.id })).status, 400)
  })

  await t.test('the sweep repeats a lost poll', async () => {
    const { id } = await place(capture('fail-order'))
    await sql`delete from queue.job`.execute(w.db)
    w.clock.advance({ minutes: 5 })
    await w.runTask(sweep)
    const { rows } = await sql<{ id: string }>`select data->>'order_id' as id from queue.job where name = 'orders.poll'`.execute(w.db)
    assert.deepEqual(
      rows.map((row) => row.id),
      [id],
    )
    await work(w, [id])
  })
  assert.deepEqual(await orderViolations(w.db), [])
})
