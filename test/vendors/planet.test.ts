// Goal: what only Planet has behaves as its documents say: several scenes in one order, partial deliveries that cost what was delivered,
// failed orders, and contracts instead of prices.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { parseRegistry } from '#adapters/vendors/registry.ts'
import { VendorError } from '#ports/vendors/call.ts'
import type { VendorOrderRequest } from '#ports/vendors/shop.ts'
import { orderViolations } from '../orders/invariants.ts'
import { balance, features, grant, square, step } from '../orders/support.ts'
import { testClock, world } from '../support/world.ts'
import { planetRegistry, simulatedPlanet } from './planet.ts'

const MAX_ROUNDS = 200
const PAUSE_MS = 200

test('Planet', async (t) => {
  const workDir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-vendor-'))
  const clock = testClock('2030-01-01T00:00:00.000Z')
  const exchange = new Map([['USD', { audPerUnit: 1.5, day: '2029-12-31', marginPercent: 3 }]])
  const vendor = await simulatedPlanet({ clock, workDir, exchange })
  t.after(async () => {
    await vendor.close()
    rmSync(workDir, { recursive: true, force: true })
  })
  const w = await world(t, { clock, sources: vendor.sources, egressAllow: vendor.egressAllow })
  const org = await w.organization()
  await grant(w, org, 10_000_000)
  const { vendors } = w.platform.services
  const [catalog, shop] = [vendors.catalog('planet'), vendors.shop('planet')!]
  const { planet } = vendor
  const found = await catalog.search({ intersects: square(), from: new Date('2029-11-01T00:00:00Z'), to: clock.now(), limit: 3 })
  const [first, second] = found.scenes.map(({ id }) => id) as [string, string]
  const capture = (id: string, geometry: object = square()) => ({ id, geometry, host: 'planet' })
  const ok = async (id: string, input: object) => {
    Object.assign(org.owner, await w.signIn(org.owner, org.id))
    return await w.ok(org.owner.token, id, input)
  }
  const end = async (orderId: string): Promise<void> => {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      await step(w, [orderId], vendor.stepSeconds)
      const { status } = await w.db.selectFrom('imagery_order').select('status').where('id', '=', orderId).executeTakeFirstOrThrow()
      if (['fulfilled', 'failed', 'cancelled'].includes(status)) return
      await pause(PAUSE_MS) // Files are made in another process.
    }
    throw new Error('the order did not end')
  }
  const place = (captures: object[]) => ok('orders.archive.place', { projectId: org.projectId, captures })

  await t.test('scenes of one area are one order with one clip; another area is another order', async () => {
    const { groups } = await ok('orders.archive.estimate', {
      captures: [capture(first), capture(second), capture(first, square(2.31, 48.21))],
    })
    assert.deepEqual(groups.map(({ captures }: { captures: unknown[] }) => captures.length).toSorted(), [1, 2])
  })

  await t.test('a scene that fails is not charged, and the others are delivered', async () => {
    const before = await balance(w, org)
    planet.faults.failedItems = 1
    const order = await place([capture(first), capture(second)])
    await end(order.id)
    const done = await ok('orders.get', { id: order.id })
    assert.deepEqual([done.status, done.itemIds.length, planet.orders.length], ['fulfilled', 1, 1], JSON.stringify(done))
    const { products, tools, order_type: type } = planet.orders[0]!.body
    assert.deepEqual(products, [{ item_ids: [first, second], item_type: 'PSScene', product_bundle: 'analytic_8b_sr_udm2' }])
    assert.deepEqual([(tools as object[]).map((tool) => Object.keys(tool)[0]), type], [['clip', 'file_format'], 'partial'])
    assert.ok(done.capturedCredits > 0.4 * order.totalCredits && done.capturedCredits < 0.6 * order.totalCredits, `${done.capturedCredits}`)
    assert.deepEqual(await balance(w, org), [before[0] - done.capturedCredits, 0])
    assert.match(JSON.stringify(done.groups), new RegExp(`Not delivered: ${first}`))
  })

  await t.test('an order of which nothing can be delivered fails with the hints of the vendor, and costs nothing', async () => {
    const before = await balance(w, org)
    planet.faults.failedItems = 1
    const order = await place([capture(first)])
    await end(order.id)
    const done = await ok('orders.get', { id: order.id })
    assert.deepEqual([done.status, done.capturedCredits], ['failed', 0])
    assert.match(done.failureReason, /does not cover any data/)
    assert.deepEqual(await balance(w, org), before)
  })

  await t.test('without a rate of the operator, only an account of the organization can buy', async () => {
    const unrated = parseRegistry(planetRegistry(planet).replaceAll(/,"rateCard":\{[^}]*\}/g, ''), 'mine', {
      sandboxUrl: null,
      secrets: { VENDOR_PLANET_KEY: planet.key },
      exchange,
    })
    const other = await world(t, { clock, sources: unrated, egressAllow: vendor.egressAllow })
    const theirs = await other.organization()
    const { errors } = await other.ok(theirs.owner.token, 'orders.archive.estimate', { captures: [capture(first)] })
    assert.match(errors[0].reason, /only under a contract/)
    const [sold] = (await other.ok(theirs.owner.token, 'catalog.search', { host_name: 'planet', ids: [first] })).features
    assert.match(sold.properties.priceError, /only under a contract/)
    assert.ok(sold.properties.dataProduct, 'it is for sale, and not free')
  })

  await t.test('searches across the antimeridian, by cloud cover and by item type ask what was asked', async () => {
    const query = { from: new Date('2029-12-01T00:00:00Z'), to: clock.now(), limit: 5 }
    const across = await catalog.search({ ...query, bbox: [179.9, -17, -179.9, -16.8] })
    assert.ok(across.scenes.length > 0)
    for (const operator of ['LT', 'GTE'] as const) {
      const { scenes } = await catalog.search({ ...query, intersects: square(), cloudCover: { operator, percent: 50 } })
      assert.ok(scenes.every(({ cloudCover }) => (operator === 'LT' ? cloudCover! < 50 : cloudCover! >= 50)))
    }
    const none = await catalog.search({ ...query, intersects: square(), collections: ['SkySatCollect'] })
    assert.deepEqual(none, { scenes: [], cursor: null })
  })

  await t.test('a cursor leads to the pages of a search and nowhere else', async () => {
    for (const cursor of ['/compute/ops/orders/v2?a=b', 'https://example.com/data/v1/searches/1/results?a', '/data/v1/searches/../x?a'])
      await assert.rejects(catalog.search({ cursor, limit: 1 }), VendorError)
  })

  await t.test('what the vendor refuses is said with its own words', async () => {
    const request: VendorOrderRequest = {
      reference: 'unknown-scene',
      createdAt: clock.now(),
      expectedCents: null,
      productId: found.scenes[0]!.productId!,
      licenseType: 'standard',
      captures: [{ sceneId: 'planet_nothing', geometry: square() }],
      clipArea: square(),
    }
    await assert.rejects(shop.placeOrder(request), /Unable to accept order; Item ID planet_nothing .* doesn't exist/)
    assert.equal(await shop.findOrder(request), null)
    await assert.rejects(shop.order('4f0f8a10-6a6b-4f0e-9c1d-0a1b2c3d4e5e'), /has no such order/)
  })

  const DAY = 86_400_000
  const inDays = (days: number) => new Date(clock.now().getTime() + days * DAY).toISOString()
  const task = (geometry: object = square(2.3, 48.2, 0.002)) =>
    ok('orders.tasking.place', {
      projectId: org.projectId,
      groups: [
        {
          dataProduct: 'planet-skysat-tasking',
          featureCollection: features(geometry),
          params: { acquisitionStart: inDays(1), acquisitionEnd: inDays(15), maxOffNadirAngle: 20 },
        },
      ],
    })
  const accept = async (orderId: string) => {
    for (let round = 0; round < 3; round++) await step(w, [orderId], vendor.stepSeconds)
    const { content } = await ok('orders.tasking.feasibility_studies.list', { orderId })
    const [option] = content[0].options
    await ok('orders.tasking.feasibility_decide', { study_id: content[0].id, acceptedOptionId: option.id })
    return option
  }

  await t.test('a new image is tasked once, ordered once when it is published, and delivered', async () => {
    const [before, archive] = [await balance(w, org), planet.orders.length]
    const order = await task()
    const option = await accept(order.id)
    assert.match(option.description, /estimates 25 SQKM of quota/)
    planet.faults.lostPlacements = 1
    await step(w, [order.id], vendor.stepSeconds)
    assert.equal(planet.taskings.length, 1)
    const { sat_elevation_angle_min: angle, geometry } = planet.taskings[0]!.body
    assert.deepEqual([angle, (geometry as { type: string }).type], [70, 'Polygon'])
    while (planet.orders.length === archive) {
      planet.faults.lostPlacements = 1 // The order of the image is lost, too.
      await step(w, [order.id], vendor.stepSeconds)
    }
    await end(order.id)
    const done = await ok('orders.get', { id: order.id })
    assert.deepEqual([done.status, done.itemIds.length], ['fulfilled', 1], JSON.stringify(done))
    assert.deepEqual([planet.taskings.length, planet.orders.length], [1, archive + 1], 'one of each at the vendor')
    assert.deepEqual(await balance(w, org), [before[0] - done.capturedCredits, 0])
    assert.equal(done.capturedCredits, option.credits)
    const { assets } = await ok('items.get_stac', { item_id: done.itemIds[0] })
    assert.deepEqual(Object.keys(assets).toSorted(), ['data', 'metadata', 'udm2'])
    assert.equal(vendor.leaked(), false)
  })

  await t.test('a tasking order is cancelled at the vendor', async () => {
    const [before, archive] = [await balance(w, org), planet.orders.length]
    const order = await task()
    await accept(order.id)
    await step(w, [order.id], 1)
    await ok('orders.cancel', { id: order.id })
    assert.deepEqual([planet.taskings.at(-1)!.isCancelled, await balance(w, org)], [true, before])
    for (let round = 0; round < 8; round++) await step(w, [order.id], vendor.stepSeconds)
    assert.deepEqual([(await ok('orders.get', { id: order.id })).status, planet.orders.length], ['cancelled', archive])
  })

  await t.test('a window that passes without a good image costs nothing', async () => {
    const before = await balance(w, org)
    const order = await task()
    await accept(order.id)
    await step(w, [order.id], vendor.stepSeconds)
    planet.faults.status = 'EXPIRED'
    await end(order.id)
    planet.faults.status = null
    const { status, failureReason } = await ok('orders.get', { id: order.id })
    assert.deepEqual([status, failureReason, await balance(w, org)], ['failed', 'Planet reports EXPIRED', before])
  })

  await t.test('what cannot be tasked is refused in the words of the vendor, and nothing is reserved', async () => {
    const before = await balance(w, org)
    const order = await task(square(2.3, 48.2, 0.9))
    for (let round = 0; round < 3; round++) await step(w, [order.id], vendor.stepSeconds)
    const { content } = await ok('orders.tasking.feasibility_studies.list', { orderId: order.id })
    assert.deepEqual([content[0].state, content[0].options], ['infeasible', []])
    assert.match((await ok('orders.get', { id: order.id })).failureReason, /cannot be tessellated/)
    assert.deepEqual(await balance(w, org), before)
  })
  assert.deepEqual(await orderViolations(w.db), [])
})
