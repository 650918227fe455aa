// Goal: tasking at a STAPI server buys once whatever gets lost, although the standard has no reference of the customer, delivers what
// was ordered, costs what was shown, and a server that delivers something else is not paid. The steps are those of shops.test.ts, as
// far as the standard goes: it has no archive and no charge.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { parseRegistry } from '#adapters/vendors/registry.ts'
import place from '#domains/orders/place.task.ts'
import type { VendorError } from '#ports/vendors/call.ts'
import { startStapi } from '../../sandbox/vendors/stapi/server.ts'
import { orderViolations } from '../orders/invariants.ts'
import { balance, features, grant, square, step, until, work } from '../orders/support.ts'
import { testClock, world } from '../support/world.ts'
import { CENTS, stapiRegistry } from './stapi.ts'

const STEP_SECONDS = 60
const MAX_ROUNDS = 200
const PAUSE_MS = 200
const RATE = { audPerUnit: 1.5, day: '2029-12-31', marginPercent: 3 }
const AREA = square(2.3, 48.2, 0.005)
const PARAMS = { acquisitionStart: '2030-01-02T00:00:00Z', acquisitionEnd: '2030-01-20T00:00:00Z', priority: 'standard' }

test('tasking at a STAPI server', async (t) => {
  const workDir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-vendor-'))
  const clock = testClock('2030-01-01T00:00:00.000Z')
  const vendor = await startStapi({ clock, workDir, stepSeconds: STEP_SECONDS })
  t.after(async () => {
    await vendor.close()
    rmSync(workDir, { recursive: true, force: true })
  })
  const { faults, hosts, key } = vendor
  const sources = parseRegistry(stapiRegistry(vendor), 'the registry of this test', {
    sandboxUrl: null,
    secrets: { VENDOR_STAPI_KEY: key },
    exchange: new Map([['USD', RATE]]),
  })
  const w = await world(t, { clock, sources, egressAllow: [hosts.api, hosts.files] })
  const org = await w.organization()
  await grant(w, org, 10_000_000)
  const call = async (id: string, input: object = {}) => {
    Object.assign(org.owner, await w.signIn(org.owner, org.id)) // Sessions are shorter than orders take.
    return await w.call(org.owner.token, id, input)
  }
  const ok = async (id: string, input: object = {}) => {
    const { status, body } = await call(id, input)
    assert.equal(status, 200, `${id}: ${JSON.stringify(body)}`)
    return body
  }
  const group = (more: object = {}) => ({ dataProduct: 'stapi-area', featureCollection: features(AREA), params: PARAMS, ...more })
  const get = (id: string) => ok('orders.get', { id })
  const groupOf = (id: string) => w.db.selectFrom('order_group').selectAll().where('order_id', '=', id).executeTakeFirstOrThrow()
  /** Placed, quoted at the list price, and accepted. */
  const buy = async (more: object = {}) => {
    const { id } = await ok('orders.tasking.place', { projectId: org.projectId, groups: [group(more)] })
    await work(w, [id], until('quotation_ready'))
    const [quotation] = (await ok('orders.tasking.quotations.list', { orderId: id })).content
    await ok('orders.tasking.quotation_decide', { quotation_id: quotation.id, decision: 'ACCEPTED' })
    const order = await get(id)
    return { id, groupId: order.groups[0].id as string, credits: quotation.creditsPrice as number }
  }
  const end = async (id: string, beforeDelivery?: () => void) => {
    let isWarned = false
    for (let round = 0; round < MAX_ROUNDS; round++) {
      await step(w, [id], STEP_SECONDS)
      const { status } = await w.db.selectFrom('imagery_order').select('status').where('id', '=', id).executeTakeFirstOrThrow()
      if (['fulfilled', 'failed', 'cancelled'].includes(status)) return await get(id)
      if (!isWarned && (await groupOf(id)).status === 'delivering') {
        isWarned = true
        beforeDelivery?.()
      }
      await pause(PAUSE_MS) // Files are made in another process.
    }
    throw new Error('the order did not end')
  }

  await t.test('passes come over several pages, limited by angle, also from a server that searches asynchronously', async () => {
    const passes = (more: object = {}) => ok('orders.tasking.opportunities_list', { ...group(more), size: 100 })
    const all = await passes()
    assert.ok(all.totalElements > 10)
    const limited = await passes({ params: { ...PARAMS, maxOffNadirAngle: 15 } })
    assert.ok(limited.totalElements > 0 && limited.totalElements < all.totalElements)
    for (const { offNadirDeg } of limited.content) assert.ok(offNadirDeg <= 15)
    faults.isAsync = true
    assert.equal((await passes()).totalElements, all.totalElements)
    faults.isAsync = false
    assert.deepEqual((await ok('catalog.search', { host_name: 'stapi', intersects: AREA })).features, [], 'there is no archive')
  })

  await t.test('the price is the rate card, converted with margin and markup', async () => {
    const { totalCredits } = await ok('orders.tasking.estimate', { groups: [group()] })
    assert.equal(totalCredits, Math.ceil(CENTS * RATE.audPerUnit * 1.03 * 1.1))
  })

  await t.test('the response to the placement is lost: the next attempt finds the order by its window, and buys nothing', async () => {
    const before = await balance(w, org)
    const order = await buy()
    faults.lostPlacements = 1
    await w.runTask(place, { group_id: order.groupId })
    assert.deepEqual([vendor.orders.length, (await get(order.id)).groups[0].status], [1, 'waiting'])
    const done = await end(order.id, () => {
      faults.expiredLinks = 1
      faults.brokenTransfers = 1
    })
    assert.deepEqual([done.status, done.capturedCredits, done.itemIds.length], ['fulfilled', order.credits, 1], JSON.stringify(done))
    assert.equal(vendor.orders.length, 1)
    assert.deepEqual(await balance(w, org), [before[0] - order.credits, 0])
    const { body } = vendor.orders[0]!
    assert.deepEqual([body['geometry'], body['order_parameters']], [AREA, { priority: 'standard' }])
    const item = await w.db.selectFrom('item').selectAll().where('id', '=', done.itemIds[0]).executeTakeFirstOrThrow()
    const [asset, ...more] = await w.db.selectFrom('asset').selectAll().where('item_seq', '=', item.seq).execute()
    const bytes = await readFile((await vendor.file(vendor.orders[0]!.id)).path)
    assert.deepEqual([asset!.key, Number(asset!.file_size_bytes), more], ['image', bytes.length, []])
    assert.equal(asset!.sha256!.toString('hex'), createHash('sha256').update(bytes).digest('hex'))
    assert.ok(!JSON.stringify(vendor.fileHeaders).includes(key), 'signed links never see the credential')
  })

  await t.test('two orders of the same area and window are two orders, and concurrent placements of one are one', async () => {
    const count = vendor.orders.length
    const [first, second] = [await buy(), await buy()]
    const send = ({ groupId }: { groupId: string }) => w.runTask(place, { group_id: groupId })
    await Promise.all([send(first), send(first), send(second), send(second)])
    await Promise.all([send(first), send(second)])
    assert.equal(vendor.orders.length, count + 2)
    const [a, b] = [await groupOf(first.id), await groupOf(second.id)]
    assert.notEqual(a.vendor_order_id, b.vendor_order_id)
    for (const { id } of [first, second]) await ok('orders.cancel', { id })
    assert.deepEqual(
      vendor.orders.slice(count).map(({ cancelledAt }) => cancelledAt !== null),
      [true, true],
      'by the link of the server',
    )
  })

  await t.test('orders are read to look for one only if it can be there: after an attempt, or if it was not sent at once', async () => {
    const [count, pages] = [vendor.orders.length, vendor.pagesRead()]
    const [prompt, late] = [await buy(), await buy()]
    await w.runTask(place, { group_id: prompt.groupId })
    assert.deepEqual([vendor.orders.length, vendor.pagesRead()], [count + 1, pages])
    w.clock.advance({ minutes: 11 })
    await w.runTask(place, { group_id: late.groupId })
    assert.deepEqual([vendor.orders.length, vendor.pagesRead()], [count + 2, pages + 1], 'as after a backup was restored')
    const tried = await buy()
    faults.lostPlacements = 1
    await w.runTask(place, { group_id: tried.groupId })
    assert.deepEqual([vendor.orders.length, vendor.pagesRead()], [count + 3, pages + 1])
    w.clock.advance({ seconds: STEP_SECONDS })
    await w.runTask(place, { group_id: tried.groupId })
    assert.deepEqual([vendor.orders.length, vendor.pagesRead()], [count + 3, pages + 2])
    assert.equal((await groupOf(tried.id)).vendor_order_id, vendor.orders.at(-1)!.id)
    for (const { id } of [prompt, late, tried]) assert.equal((await end(id)).status, 'fulfilled')
  })

  await t.test('a server that drops milliseconds cannot be asked which order is ours: nothing is placed again', async () => {
    const [before, count] = [await balance(w, org), vendor.orders.length]
    faults.isCoarse = true
    const order = await buy({ featureCollection: features(square(2.4, 48.2, 0.005)) })
    faults.lostPlacements = 1
    await w.runTask(place, { group_id: order.groupId })
    const done = await end(order.id)
    faults.isCoarse = false
    assert.equal(done.status, 'failed')
    assert.match(done.failureReason, /cannot be told whether it is this one/)
    assert.deepEqual([vendor.orders.length, await balance(w, org)], [count + 1, before])
  })

  await t.test('a server that confirms with a URL alone, 401 in mid-run, a limit and an unknown state fail no order', async () => {
    const order = await buy()
    faults.refusedKeys = 1
    await w.runTask(place, { group_id: order.groupId })
    assert.equal((await get(order.id)).groups[0].status, 'waiting')
    assert.ok(w.logLines.some((line) => line.includes('refused the credentials')))
    faults.isTerse = true
    const steps = async (count: number) => {
      for (let round = 0; round < count; round++) await step(w, [order.id], STEP_SECONDS)
    }
    await steps(3)
    faults.isTerse = false
    faults.refusedKeys = 1
    await steps(2)
    faults.status = 'being_polished'
    await steps(2)
    assert.ok(w.logLines.some((line) => line.includes('being_polished')))
    assert.equal((await get(order.id)).status, 'awaiting_data')
    faults.status = null
    faults.limited = 1
    assert.equal((await end(order.id)).status, 'fulfilled')
  })

  await t.test('a used-up quota and a rejection fail the order with the reason, and nothing is charged', async () => {
    const [before, count] = [await balance(w, org), vendor.orders.length]
    const order = await buy()
    faults.overQuota = 1
    const done = await end(order.id)
    assert.equal(done.status, 'failed')
    assert.match(done.failureReason, /quota of this contract/)
    assert.equal(vendor.orders.length, count)
    for (const code of ['rejected', 'expired', 'cancelled', 'failed']) {
      const ended = await buy()
      await w.runTask(place, { group_id: ended.groupId })
      faults.status = code
      assert.deepEqual([(await end(ended.id)).status, code], ['failed', code])
      faults.status = null
    }
    assert.deepEqual(await balance(w, org), before)
  })

  await t.test('a server that does not answer for 500 polls fails the order, and nothing is charged', async () => {
    const before = await balance(w, org)
    const order = await buy()
    await w.runTask(place, { group_id: order.groupId })
    const pollUnanswered = async (earlier: number) => {
      await w.db.updateTable('order_group').set({ attempts: earlier }).where('id', '=', order.groupId).execute()
      faults.refusedKeys = 1
      await step(w, [order.id], STEP_SECONDS)
      return (await get(order.id)).status
    }
    assert.deepEqual([await pollUnanswered(498), await pollUnanswered(499)], ['processing', 'failed'])
    assert.deepEqual(await balance(w, org), before)
  })

  const lies: Record<string, [tell: () => void, undo: () => void, reason: RegExp]> = {
    'states another size': [() => (faults.extraBytes = 10), () => (faults.extraBytes = 0), /bytes/],
    'states another checksum': [
      () => (faults.hasWrongChecksum = true),
      () => (faults.hasWrongChecksum = false),
      /another sha256 than stated/,
    ],
    'shows another place': [() => (faults.isElsewhere = true), () => (faults.isElsewhere = false), /does not cover the ordered area/],
  }
  for (const [lie, [tell, undo, reason]] of Object.entries(lies))
    await t.test(`a server whose file ${lie} is not paid`, async () => {
      const before = await balance(w, org)
      const order = await buy()
      tell()
      const done = await end(order.id)
      undo()
      assert.deepEqual([done.status, done.itemIds, done.capturedCredits], ['failed', [], 0], JSON.stringify(done))
      assert.match(done.failureReason, reason)
      assert.deepEqual(await balance(w, org), before)
    })

  await t.test('an accepted order is not cancelled, and is delivered', async () => {
    const order = await buy()
    await w.runTask(place, { group_id: order.groupId })
    w.clock.advance({ seconds: 2 * STEP_SECONDS })
    assert.equal((await call('orders.cancel', { id: order.id })).status, 400)
    assert.equal((await end(order.id)).status, 'fulfilled')
  })

  await t.test('a product for points receives the centre; several areas are refused by it', async () => {
    const order = await buy({ dataProduct: 'stapi-spot' })
    await w.runTask(place, { group_id: order.groupId })
    const { type, coordinates } = vendor.orders.at(-1)!.body['geometry'] as { type: string; coordinates: [number, number] }
    assert.deepEqual([type, ...coordinates.map((value) => value.toFixed(4))], ['Point', '2.3025', '48.2025'])
    await ok('orders.cancel', { id: order.id })
    const shop = w.platform.services.vendors.shop('stapi')!
    const area = { type: 'MultiPolygon', coordinates: [AREA.coordinates, square(2.4, 48.2, 0.005).coordinates] } as never
    const window = { from: new Date('2030-01-02T00:00:00Z'), to: new Date('2030-01-09T00:00:00Z') }
    const search = { productId: '7f7f1c1e-0000-4000-8000-000000000002', area, ...window, limit: 5 }
    await assert.rejects(shop.opportunities(search), (error: VendorError) => error.code === 'refused' && /MultiPolygon/.test(error.message))
  })

  await t.test(
    "an organization's own account: a wrong key is reported at once; with the right one, the vendor bills by its contract",
    async () => {
      const wrong = await call('vendors.accounts.put', { host_name: 'stapi', credentials: { key: 'not-the-key-of-anyone' } })
      assert.equal(wrong.status, 400)
      assert.match(wrong.body.detail, /does not accept these credentials; nothing was stored/)
      assert.equal((await ok('vendors.accounts.put', { host_name: 'stapi', credentials: { key } })).status, 'accepted')
      const { groups, totalCredits } = await ok('orders.tasking.estimate', { groups: [group()] })
      assert.deepEqual([totalCredits, groups[0].billedByVendor], [0, { currency: 'USD', amount: null }])
      assert.doesNotMatch(JSON.stringify([await w.db.selectFrom('vendor_account').selectAll().execute(), w.logLines]), new RegExp(key))
    },
  )
  assert.deepEqual(await orderViolations(w.db), [])
})
