// Goal: a new image through SkyFi is studied, priced, bought once whatever gets lost, delivered and paid as it was shown; what SkyFi
// cannot take is refused with the reason, and nothing is charged.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { DAY_MS } from '#core/time.ts'
import place from '#domains/orders/place.task.ts'
import { orderViolations } from '../orders/invariants.ts'
import { balance, features, grant, square, step, until } from '../orders/support.ts'
import { testClock, world } from '../support/world.ts'
import { simulatedSkyfi } from './skyfi.ts'

const RATE = { audPerUnit: 1.5, day: '2029-12-31', marginPercent: 0 }
const MAX_ROUNDS = 200
const PAUSE_MS = 50
const DAY = 'skyfi-day-tasking'

test('new images through SkyFi', async (t) => {
  const workDir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-skyfi-'))
  const clock = testClock('2030-01-01T00:00:00.000Z')
  const vendor = await simulatedSkyfi({ clock, workDir, exchange: new Map([['USD', RATE]]) })
  t.after(async () => {
    await vendor.close()
    rmSync(workDir, { recursive: true, force: true })
  })
  const w = await world(t, { clock, sources: vendor.sources, egressAllow: vendor.egressAllow })
  const org = await w.organization()
  await grant(w, org, 10_000_000)
  const { skyfi, stepSeconds } = vendor
  const { faults } = skyfi
  const call = async (id: string, input: object) => {
    Object.assign(org.owner, await w.signIn(org.owner, org.id)) // Sessions are shorter than orders take.
    return await w.call(org.owner.token, id, input)
  }
  const ok = async (id: string, input: object) => {
    const { status, body } = await call(id, input)
    assert.equal(status, 200, `${id}: ${JSON.stringify(body)}`)
    return body
  }
  const inDays = (days: number) => new Date(clock.now().getTime() + days * DAY_MS).toISOString()
  const area = square(2.3, 48.2, 0.005)
  const groupOf = (product = DAY, geometry: object = area, more: object = {}) => ({
    dataProduct: product,
    featureCollection: features(geometry),
    params: { acquisitionStart: inDays(2), acquisitionEnd: inDays(9), ...more },
  })
  const start = (group: object = groupOf()) => ok('orders.tasking.place', { projectId: org.projectId, groups: [group] })
  const get = (id: string) => ok('orders.get', { id })
  const work = async (orderId: string, isDone = until()): Promise<void> => {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      await step(w, [orderId], stepSeconds)
      const row = await w.db
        .selectFrom('imagery_order')
        .select(['status', 'sub_status as subStatus'])
        .where('id', '=', orderId)
        .executeTakeFirstOrThrow()
      if (isDone(row)) return
      await pause(PAUSE_MS) // Files are made in another process.
    }
    throw new Error('the order did not come to an end')
  }
  const accept = async (orderId: string) => {
    await work(orderId, until('feasibility_ready'))
    const { content } = await ok('orders.tasking.feasibility_studies.list', { orderId })
    const { options, id } = content[0]
    await ok('orders.tasking.feasibility_decide', { study_id: id, acceptedOptionId: options[0].id })
    return options
  }

  await t.test('passes of the provider, earliest first, from a day ahead on', async () => {
    const passes = async (product: string, more: object = {}) =>
      (await ok('orders.tasking.opportunities_list', { ...groupOf(product, area, more), size: 100 })).content
    const found = await passes(DAY, { acquisitionStart: inDays(0) })
    assert.deepEqual([found[0].satellite, found[0].noradId, found[0].offNadirDeg, found.length], ['SkySat-C12', 45_788, 12.5, 8])
    assert.ok(found[0].start > inDays(1) && found[0].start < found[1].start)
    assert.equal((await passes('skyfi-sar-tasking'))[0].sunElevationDeg, null, 'radar has no sun')
    const { status, body } = await call(
      'orders.tasking.opportunities_list',
      groupOf(DAY, area, { acquisitionEnd: inDays(0.5), acquisitionStart: inDays(0) }),
    )
    assert.deepEqual([status >= 400 && status < 500, /24 hours ahead/.test(body.detail)], [true, true], JSON.stringify(body))
  })

  await t.test('the response to the order is lost: one order at the vendor, of the accepted pass, paid as shown', async () => {
    const before = await balance(w, org)
    const { groups } = await ok('orders.tasking.estimate', { groups: [groupOf()] })
    const order = await start(groupOf(DAY, area, { cloudCoverage: 30, maxOffNadirAngle: 20 }))
    const options = await accept(order.id)
    assert.deepEqual([options.length, options[0].credits], [7, groups[0].credits])
    faults.lostPlacements = 1
    await w.runTask(place, { group_id: order.groups[0].id })
    assert.deepEqual([skyfi.orders.length, (await get(order.id)).groups[0].status], [1, 'waiting'])
    faults.refusedKeys = 2
    await work(order.id, until('awaiting_data'))
    faults.status = 'BEING_POLISHED'
    for (let round = 0; round < 3; round++) await step(w, [order.id], stepSeconds)
    assert.equal((await get(order.id)).status, 'awaiting_data', 'an unknown state fails no order')
    faults.status = null
    faults.limited = 1
    faults.expiredLinks = 1
    faults.brokenTransfers = 1
    await work(order.id)
    const done = await get(order.id)
    assert.deepEqual([done.status, done.capturedCredits, done.itemIds.length], ['fulfilled', options[0].credits, 1], JSON.stringify(done))
    assert.deepEqual([skyfi.orders.length, await balance(w, org)], [1, [before[0] - options[0].credits, 0]])
    const { tasking } = skyfi.orders[0]!
    assert.deepEqual(
      [tasking!.windowStart, tasking!.windowEnd, tasking!.requiredProvider, tasking!.maxCloudCoveragePercent, tasking!.maxOffNadirAngle],
      [options[0].acquisitionStart, options[0].acquisitionEnd, 'PLANET', 30, 20],
    )
    assert.match(tasking!.providerWindowId!, /^550e8400-/)
    const row = await w.db.selectFrom('order_group').selectAll().where('order_id', '=', order.id).executeTakeFirstOrThrow()
    assert.equal(row.vendor_charged_cents, row.vendor_cents)
    const { assets } = await ok('items.get_stac', { item_id: done.itemIds[0] })
    assert.deepEqual(Object.keys(assets), ['data'])
    assert.equal(vendor.leaked(), false)
  })

  await t.test('radar of Umbra is the pass whose time was chosen', async () => {
    const order = await start(groupOf('skyfi-sar-tasking'))
    await accept(order.id)
    await work(order.id)
    assert.equal((await get(order.id)).status, 'fulfilled')
    const { tasking } = skyfi.orders.at(-1)!
    assert.deepEqual([tasking!.requiredProvider, tasking!.providerWindowId, tasking!.sarProductTypes], ['UMBRA', null, ['GEC']])
  })

  const untouched = async (then: () => Promise<void>) => {
    const [before, count] = [await balance(w, org), skyfi.orders.length]
    await then()
    assert.deepEqual([await balance(w, org), skyfi.orders.length], [before, count])
  }

  await t.test('a price that rises, a budget that is used up and a study without a pass buy nothing', async () => {
    await untouched(async () => {
      const order = await start()
      await accept(order.id)
      faults.extraCentsPerSqKm = 100
      await work(order.id)
      faults.extraCentsPerSqKm = 0
      assert.match((await get(order.id)).failureReason, /more than was agreed on/)
    })
    await untouched(async () => {
      const order = await start()
      await accept(order.id)
      faults.overBudget = 1
      await work(order.id)
      assert.match((await get(order.id)).failureReason, /Budget exceeded/)
    })
    await untouched(async () => {
      const order = await start()
      faults.studyStatus = 'ERROR'
      await work(order.id)
      faults.studyStatus = null
      assert.match((await get(order.id)).failureReason, /could not find out whether PLANET/)
    })
    await untouched(async () => {
      faults.hasNoPasses = true
      const { errors } = await ok('orders.tasking.estimate', { groups: [groupOf()] })
      faults.hasNoPasses = false
      assert.match(errors[0].reason, /predicts no pass of PLANET/)
    })
  })

  await t.test('a vendor that charges more than it stated is not paid', async () => {
    const before = await balance(w, org)
    const order = await start()
    await accept(order.id)
    faults.chargeFactor = 2
    await work(order.id)
    faults.chargeFactor = 1
    const done = await get(order.id)
    assert.deepEqual([done.status, done.capturedCredits, await balance(w, org)], ['failed', 0, before])
    assert.match(done.failureReason, /charged USD/)
  })

  await t.test('several areas, concave ones and windows that begin too soon are refused with the reason', async () => {
    const reasonFor = async (group: object) => (await ok('orders.tasking.estimate', { groups: [group] })).errors[0].reason
    assert.match(await reasonFor({ ...groupOf(), featureCollection: features(area, square(2.4, 48.2, 0.005)) }), /several groups/)
    assert.match(await reasonFor(groupOf(DAY, vendor.refusedArea.geometry)), /convex/)
    assert.match(await reasonFor(groupOf(DAY, area, { acquisitionStart: inDays(0), acquisitionEnd: inDays(0.9) })), /24 hours ahead/)
    assert.match(await reasonFor(groupOf(DAY, square(2.3, 48.2, 0.3))), /at most 500 km²/)
  })

  await t.test('an order is cancelled before it is sent, and not after', async () => {
    await untouched(async () => {
      const order = await start()
      await accept(order.id)
      await ok('orders.cancel', { id: order.id })
    })
    const order = await start()
    await accept(order.id)
    await w.runTask(place, { group_id: order.groups[0].id })
    const { status, body } = await call('orders.cancel', { id: order.id })
    assert.deepEqual([status, /does not cancel orders/.test(body.detail)], [400, true])
    await work(order.id)
    assert.equal((await get(order.id)).status, 'fulfilled')
  })
  assert.deepEqual(await orderViolations(w.db), [])
})
