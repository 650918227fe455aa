// Goal: what only Umbra has behaves as its documents say: sessions that are few, scenes that are sold whole, studies that list passes,
// tasks that are cancelled or fail, areas that must not be imaged, and limits of everything that Umbra can send.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { DAY_MS } from '#core/time.ts'
import { VendorError, type VendorErrorCode } from '#ports/vendors/call.ts'
import type { VendorOrderRequest } from '#ports/vendors/shop.ts'
import { orderViolations } from '../orders/invariants.ts'
import { balance, features, grant, square, step, until } from '../orders/support.ts'
import { testClock, world, type World } from '../support/world.ts'
import { vendorsOf } from './clients.ts'
import { simulatedUmbra } from './umbra.ts'

const RATE = { audPerUnit: 1.5, day: '2029-12-31', marginPercent: 0 }
const EXCHANGE = new Map([['USD', RATE]])
const MAX_ROUNDS = 200
const PAUSE_MS = 50
const DAYS = { from: new Date('2029-11-01T00:00:00Z'), to: new Date('2029-12-31T00:00:00Z') }
const TASKING = 'umbra-spotlight'

async function open(t: TestContext) {
  const workDir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-umbra-'))
  const clock = testClock('2030-01-01T00:00:00.000Z')
  const vendor = await simulatedUmbra({ clock, workDir, exchange: EXCHANGE })
  t.after(async () => {
    await vendor.close()
    rmSync(workDir, { recursive: true, force: true })
  })
  return { clock, vendor, umbra: vendor.umbra }
}

const fails = (code: VendorErrorCode) => (error: unknown) => error instanceof VendorError && error.code === code

/** Works until an order has ended, or is in a state. */
async function work(w: World, orderId: string, stepSeconds: number, isDone = until()): Promise<void> {
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

test('the archive and the account', async (t) => {
  const { clock, vendor, umbra } = await open(t)
  const vendors = vendorsOf({ registry: vendor.sources, clock, egressAllow: vendor.egressAllow })
  t.after(() => vendors.close())
  const [catalog, shop] = [vendors.catalog('umbra'), vendors.shop('umbra')!]
  const query = { intersects: square(), ...DAYS, limit: 3 }
  const { scenes } = await catalog.search(query)

  await t.test('the newest come first, clouds exclude nothing, and a scene is found by its ID', async () => {
    const times = scenes.map(({ datetime }) => datetime!)
    assert.deepEqual(times, times.toSorted().toReversed())
    assert.equal(scenes[0]!.properties['sar:frequency_band'], 'X')
    const clear = await catalog.search({ ...query, cloudCover: { operator: 'LT', percent: 1 } })
    assert.deepEqual(clear.scenes, scenes)
    assert.equal((await catalog.scene(scenes[1]!.id))!.id, scenes[1]!.id)
    assert.equal(await catalog.scene('4f0f8a10-6a6b-4f0e-9c1d-0a1b2c3d4e5e'), null)
    const found = umbra.exchanges.find(({ route }) => route === '/archive/search')!.request as Record<string, unknown>
    assert.deepEqual(found['sortby'], [{ field: 'properties.datetime', direction: 'desc' }])
  })

  await t.test('one session serves all requests, and too many of them are no wrong credentials', async () => {
    assert.equal(umbra.signIns(), 1)
    clock.advance({ seconds: 60 })
    umbra.revokeTokens()
    umbra.faults.limitedSignIns = 1
    await assert.rejects(
      catalog.search({ ...query, limit: 2 }),
      (error) => fails('unavailable')(error) && /no more tokens/.test(String(error)),
    )
    await catalog.search({ ...query, limit: 2 })
    assert.equal(umbra.signIns(), 2)
    clock.advance({ seconds: 86_400 })
    await catalog.search({ ...query, limit: 2 })
    assert.equal(umbra.signIns(), 3, 'a session lasts a day')
  })

  await t.test('the check of an account says where it must not task', async () => {
    assert.match((await vendors.checkAccount('umbra', vendor.secret)).detail!, /1 restricted area/)
    await assert.rejects(vendors.checkAccount('umbra', vendor.wrongSecret), fails('unauthorized'))
  })

  const request = (more: object = {}): VendorOrderRequest => ({
    reference: crypto.randomUUID(),
    createdAt: clock.now(),
    expectedCents: null,
    productId: vendors.product('umbra-archive')!.id,
    licenseType: 'standard',
    captures: [{ sceneId: scenes[0]!.id, geometry: square() }],
    ...more,
  })

  await t.test('the image alone is ordered, under our reference; the same order is found again', async () => {
    const wanted = request()
    const { id, reference } = await shop.placeOrder(wanted)
    assert.deepEqual([reference, (await shop.placeOrder(wanted)).id, umbra.tasks.length], [wanted.reference, id, 1])
    assert.deepEqual([umbra.tasks[0]!.productTypes, umbra.tasks[0]!.userOrderId], [['GEC'], wanted.reference])
    assert.equal(await shop.findOrder(request()), null)
    await assert.rejects(shop.order('4f0f8a10-6a6b-4f0e-9c1d-0a1b2c3d4e5e'), fails('not-found'))
    await assert.rejects(shop.placeOrder(request({ captures: [] })), fails('refused'))
  })

  await t.test('a list of tasks that is not filtered leaves the order unplaced', async () => {
    umbra.faults.ignoresFilters = true
    await assert.rejects(shop.placeOrder(request()), /does not filter its tasks/)
    umbra.faults.ignoresFilters = false
    assert.equal(umbra.tasks.length, 1)
  })

  await t.test('a task is cancelled once, even if the response is lost, and not when it is too late', async () => {
    const { id } = await shop.placeOrder(request())
    umbra.faults.lostCancellations = 1
    assert.equal((await shop.cancelOrder(id)).status, 'placed', 'requested, and done a little later')
    assert.equal((await shop.cancelOrder(id)).status, 'placed')
    clock.advance({ seconds: vendor.stepSeconds })
    assert.equal((await shop.cancelOrder(id)).status, 'cancelled')
    const late = await shop.placeOrder(request())
    umbra.faults.status = 'PROCESSING'
    await assert.rejects(shop.cancelOrder(late.id), fails('refused'))
    umbra.faults.status = null
  })

  await t.test('items that name only their collect are found, too; nothing is delivered before they are there', async () => {
    const { id } = await shop.placeOrder(request())
    umbra.faults.hasNoTaskIds = true
    await umbra.files(umbra.tasks.at(-1)!.id) // Rendered.
    clock.advance({ seconds: 20 * vendor.stepSeconds })
    const { status, files } = await shop.order(id)
    assert.deepEqual([status, files.map(({ assetKey }) => assetKey)], ['delivered', ['data', 'metadata']])
    assert.deepEqual(files[0]!.bands, [{ name: 'amplitude', role: 'AMPLITUDE' }])
    assert.ok(!('umbra:organization_id' in files[0]!.properties))
    umbra.faults.hasNoTaskIds = false
  })
})

test('new radar images', async (t) => {
  const { clock, vendor, umbra } = await open(t)
  const w = await world(t, { clock, sources: vendor.sources, egressAllow: vendor.egressAllow })
  const { vendors } = w.platform.services
  const shop = vendors.shop('umbra')!
  const org = await w.organization()
  await grant(w, org, 10_000_000)
  const { stepSeconds } = vendor
  const ok = async (id: string, input: object) => {
    Object.assign(org.owner, await w.signIn(org.owner, org.id))
    return await w.ok(org.owner.token, id, input)
  }
  const inDays = (days: number) => new Date(w.clock.now().getTime() + days * DAY_MS).toISOString()
  const groupOf = (geometry: object, more: object = {}) => ({
    dataProduct: TASKING,
    featureCollection: features(geometry),
    params: { acquisitionStart: inDays(1), acquisitionEnd: inDays(8), rangeResolution: 0.5, minGrazingAngle: 40, ...more },
  })
  const area = square(2.3, 48.2, 0.005)
  const start = (geometry: object = area) => ok('orders.tasking.place', { projectId: org.projectId, groups: [groupOf(geometry)] })
  const accept = async (orderId: string) => {
    await work(w, orderId, stepSeconds, until('feasibility_ready'))
    const { content } = await ok('orders.tasking.feasibility_studies.list', { orderId })
    const [option] = content[0].options
    await ok('orders.tasking.feasibility_decide', { study_id: content[0].id, acceptedOptionId: option.id })
    return { option, options: content[0].options }
  }

  await t.test('a study lists passes, of which one is tasked, once, and delivered at the price that was shown', async () => {
    const before = await balance(w, org)
    const { groups } = await ok('orders.tasking.estimate', { groups: [groupOf(area)] })
    const order = await start()
    const { option, options } = await accept(order.id)
    assert.deepEqual([options.length, option.credits], [7, groups[0].credits])
    assert.match(option.description, /UMBRA_05, grazing angle 51° to 55°/)
    umbra.faults.lostPlacements = 1
    await work(w, order.id, stepSeconds)
    const done = await ok('orders.get', { id: order.id })
    assert.deepEqual([done.status, done.capturedCredits, done.itemIds.length], ['fulfilled', option.credits, 1], JSON.stringify(done))
    assert.deepEqual(await balance(w, org), [before[0] - option.credits, 0])
    const [task, second] = umbra.tasks
    assert.equal(second, undefined, 'one task at the vendor')
    assert.deepEqual(
      [task!.windowStartAt, task!.windowEndAt, task!.satelliteIds],
      [option.acquisitionStart, option.acquisitionEnd, ['UMBRA_05']],
    )
    const { geometry, ...constraints } = task!.constraints
    assert.deepEqual(constraints, {
      imagingMode: 'SPOTLIGHT',
      sceneSize: '5x5_KM',
      rangeResolutionMinMeters: 0.5,
      grazingAngleMinDegrees: 40,
    })
    const [longitude, latitude] = (geometry as { coordinates: [number, number] }).coordinates
    assert.ok(Math.abs(longitude - 2.3025) < 1e-9 && Math.abs(latitude - 48.2025) < 1e-9, 'the centre')
    const item = await ok('items.get_stac', { item_id: done.itemIds[0] })
    assert.deepEqual(Object.keys(item.assets).toSorted(), ['data', 'metadata'])
    assert.equal(item.properties['sar:frequency_band'], 'X')
    assert.equal(vendor.leaked(), false)
  })

  await t.test('a task is cancelled at Umbra, and one that expires costs nothing', async () => {
    const before = await balance(w, org)
    const order = await start()
    await accept(order.id)
    await step(w, [order.id], 1)
    await ok('orders.cancel', { id: order.id })
    assert.ok(umbra.tasks.at(-1)!.cancelRequestedAt)
    const other = await start()
    await accept(other.id)
    await step(w, [other.id], stepSeconds)
    umbra.faults.status = 'EXPIRED'
    await work(w, other.id, stepSeconds)
    umbra.faults.status = null
    const { status, failureReason } = await ok('orders.get', { id: other.id })
    assert.deepEqual([status, failureReason, await balance(w, org)], ['failed', 'Umbra reports EXPIRED', before])
  })

  await t.test('no pass, and a study that fails, end the order with the reason', async () => {
    const before = [await balance(w, org), umbra.tasks.length]
    const reasonWith = async (faults: object) => {
      Object.assign(umbra.faults, faults)
      const order = await start()
      await work(w, order.id, stepSeconds)
      Object.assign(umbra.faults, { hasNoPasses: false, studyStatus: null })
      return (await ok('orders.get', { id: order.id })).failureReason
    }
    assert.match(await reasonWith({ hasNoPasses: true }), /No satellite of Umbra passes/)
    assert.match(await reasonWith({ studyStatus: 'ERROR' }), /cannot study this request/)
    assert.deepEqual([await balance(w, org), umbra.tasks.length], before)
  })

  await t.test('areas that are restricted, too wide or several are refused before Umbra is asked', async () => {
    const asked = umbra.exchanges.filter(({ route }) => route === '/tasking/feasibilities').length
    const reasonFor = async (...groups: object[]) => (await ok('orders.tasking.estimate', { groups })).errors[0].reason
    assert.match(await reasonFor(groupOf(square(0.5, 0.5, 0.005))), /restricted/)
    assert.match(await reasonFor(groupOf(square(2.3, 48.2, 0.05))), /takes images of 5 × 5 km .* this one is 3\.7 × 5\.6 km/)
    assert.deepEqual(
      (await ok('orders.tasking.estimate', { groups: [groupOf(square(2.3, 48.2, 0.05), { sceneSize: '10x10_KM' })] })).errors,
      [],
    )
    const two = { ...groupOf(area), featureCollection: features(area, square(2.4, 48.2, 0.005)) }
    assert.match(await reasonFor(two), /order several areas as several groups/)
    const params = { acquisitionStart: inDays(1), acquisitionEnd: inDays(8) }
    const request = { reference: 'r', productId: vendors.product(TASKING)!.id, area: square(0.5, 0.5, 0.005), params }
    assert.match((await shop.requestStudy(request)).reason!, /restricted/)
    assert.equal(umbra.exchanges.filter(({ route }) => route === '/tasking/feasibilities').length, asked)
    await assert.rejects(
      shop.opportunities({ productId: request.productId, area, from: DAYS.from, to: DAYS.to, limit: 1 }),
      (error) => fails('refused')(error) && /feasibility studies/.test(String(error)),
    )
  })
  assert.deepEqual(await orderViolations(w.db), [])
})
