// Goal: what is UP42's own way besides the scenario of all shops: several hosts behind one search, sessions that end, licences that must
// be accepted, archives that are taken apart, and new images that are studied and quoted before they cost anything.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createVendors } from '#adapters/vendors/vendors.ts'
import place from '#domains/orders/place.task.ts'
import poll from '#domains/orders/poll.task.ts'
import { createVendorAccounts } from '#model/vendors/account.ts'
import { createVendorTokens } from '#model/vendors/token.ts'
import { createSeal, KEY_BYTES } from '#core/seal.ts'
import askVendor from '#domains/orders/request-terms.task.ts'
import withdraw from '#domains/orders/withdraw.task.ts'
import { VendorError } from '#ports/vendors/call.ts'
import type { VendorShop } from '#ports/vendors/shop.ts'
import { startUp42, type SimulatedUp42 } from '../../sandbox/vendors/up42/server.ts'
import { orderViolations } from '../orders/invariants.ts'
import { balance, features, grant, square, step, until } from '../orders/support.ts'
import { testClock, world, type World } from '../support/world.ts'
import { up42Sources } from './up42.ts'

const RATE = { audPerUnit: 1.5, day: '2029-12-31', marginPercent: 0 }
const EXCHANGE = new Map([['EUR', RATE]])
const STEP_SECONDS = 120
const MAX_ROUNDS = 200
const PAUSE_MS = 50
const WINDOW = { acquisitionStart: '2030-01-02T00:00:00Z', acquisitionEnd: '2030-01-20T00:00:00Z' }
const DAYS = { from: new Date('2029-11-01T00:00:00Z'), to: new Date('2029-12-31T00:00:00Z') }
const [DISPLAY, TASKING] = ['up42-phr-display', 'up42-pneo-tasking']

interface Lab {
  w: World
  up42: SimulatedUp42
  shop: VendorShop
}

async function open(t: TestContext): Promise<Lab> {
  const workDir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-up42-'))
  const clock = testClock('2030-01-01T00:00:00.000Z')
  const up42 = await startUp42({ clock, workDir, stepSeconds: STEP_SECONDS })
  t.after(async () => {
    await up42.close()
    rmSync(workDir, { recursive: true, force: true })
  })
  const w = await world(t, { clock, sources: up42Sources(up42, EXCHANGE), egressAllow: [up42.hosts.api, up42.hosts.files] })
  return { w, up42, shop: w.platform.services.vendors.shop('up42')! }
}

/** Works until an order has ended, or is in a state. */
async function work(w: World, [orderId]: readonly [string], isDone = until()): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    await step(w, [orderId], STEP_SECONDS)
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

const catalogOf = (w: World) => w.platform.services.vendors.catalog('up42')

test('the catalogue of UP42', async (t) => {
  const { w, up42 } = await open(t)

  await t.test('one search goes through all hosts, and every scene comes once', async () => {
    const seen: { id: string; collection: string }[] = []
    let cursor: string | null = null
    do {
      const page = await catalogOf(w).search({ intersects: square(), ...DAYS, limit: 7, cursor })
      assert.ok(page.scenes.length <= 7)
      seen.push(...page.scenes)
      cursor = page.cursor
    } while (cursor !== null)
    assert.deepEqual([...new Set(seen.map(({ collection }) => collection))], ['phr', 'pneo'])
    assert.equal(new Set(seen.map(({ id }) => id)).size, seen.length)
    const only = await catalogOf(w).search({ intersects: square(), ...DAYS, collections: ['pneo'], limit: 500 })
    assert.deepEqual(
      only.scenes.map(({ id }) => id),
      seen.filter(({ collection }) => collection === 'pneo').map(({ id }) => id),
    )
  })

  await t.test('cloud cover and several polygons', async () => {
    const [part, other] = [square(), square(2.4)].map(({ coordinates }) => coordinates)
    const both = { type: 'MultiPolygon' as const, coordinates: [part, other] as never }
    const { scenes } = await catalogOf(w).search({ intersects: both, ...DAYS, cloudCover: { operator: 'LT', percent: 40 }, limit: 20 })
    assert.ok(scenes.length > 0)
    for (const { cloudCover } of scenes) assert.ok(cloudCover !== null && cloudCover < 40)
  })

  await t.test('a scene is found by its ID in another process, too', async () => {
    const { scenes } = await catalogOf(w).search({ intersects: square(), ...DAYS, collections: ['pneo'], limit: 1 })
    const vendors = another(w, up42)
    t.after(() => vendors.close())
    assert.equal((await vendors.catalog('up42').scene(scenes[0]!.id))!.collection, 'pneo')
    assert.equal(await vendors.catalog('up42').scene('nothing'), null)
  })

  await t.test('a cursor that is not ours, and a collection that UP42 does not have', async () => {
    const refused = (query: object) =>
      assert.rejects(
        catalogOf(w).search({ bbox: [2.3, 48.2, 2.31, 48.21], limit: 1, ...query }),
        (error) => error instanceof VendorError && error.code === 'refused',
      )
    for (const cursor of ['x', '{}', JSON.stringify({ host: 'elsewhere', next: null, skip: 0 })]) await refused({ cursor })
    await refused({ collections: ['pneo-tasking'] })
    const away = JSON.stringify({ host: 'oneatlas', next: 'https://elsewhere.example/catalog/x', skip: 0 })
    await assert.rejects(
      catalogOf(w).search({ bbox: [2.3, 48.2, 2.31, 48.21], limit: 1, cursor: away }),
      (error) => error instanceof VendorError && error.code === 'invalid-response',
    )
  })
})

/** The clients of another process on the same database. */
function another(w: World, up42: SimulatedUp42) {
  return createVendors({
    registry: up42Sources(up42, EXCHANGE),
    clock: w.clock,
    tokens: createVendorTokens(w.db, w.clock),
    accounts: createVendorAccounts(w.db, createSeal(Buffer.alloc(KEY_BYTES))),
    egressAllow: [up42.hosts.api, up42.hosts.files],
  })
}

test('sessions at UP42', async (t) => {
  const { w, up42 } = await open(t)
  const search = (vendors = w.platform.services.vendors) => vendors.catalog('up42').search({ intersects: square(), ...DAYS, limit: 1 })
  await search()
  const vendors = another(w, up42)
  t.after(() => vendors.close())

  await t.test('processes share one session', async () => {
    await search(vendors)
    assert.equal(up42.signIns(), 1)
  })

  await t.test('a session that UP42 has ended is renewed without a failure', async () => {
    w.clock.advance({ seconds: 60 })
    up42.revokeTokens()
    await search()
    await search(vendors)
    assert.equal(up42.signIns(), 2)
  })

  await t.test('a session is renewed before it expires', async () => {
    w.clock.advance({ seconds: 245 })
    await search()
    assert.equal(up42.signIns(), 3)
  })

  await t.test('tokens are not readable in the database', async () => {
    const rows = JSON.stringify(await w.db.selectFrom('vendor_token').selectAll().execute())
    for (const token of up42.tokens()) assert.ok(!rows.includes(token))
  })
})

test('orders at UP42', async (t) => {
  const { w, up42, shop } = await open(t)
  const org = await w.organization()
  await grant(w, org, 1_000_000)
  const { token } = org.owner
  const { scenes } = await catalogOf(w).search({ intersects: square(), ...DAYS, limit: 2 })
  const captures = [{ id: scenes[0]!.id, geometry: square(), host: 'up42' }]
  const call = async (id: string, input: object) => {
    Object.assign(org.owner, await w.signIn(org.owner, org.id)) // Sessions are shorter than orders take.
    return await w.ok(org.owner.token, id, input)
  }
  const buy = () => call('orders.archive.place', { projectId: org.projectId, captures })

  await t.test('a licence that nobody has accepted is named before anything is ordered', async () => {
    up42.faults.isUnlicensed = true
    const { errors } = await w.ok(token, 'orders.archive.estimate', { captures })
    assert.match(errors[0].reason, /accept the licence 'Licence of the producer' \(https:.*1\.pdf\)/)
    assert.equal((await w.call(token, 'orders.archive.place', { projectId: org.projectId, captures })).status, 422)
    const account = await w.ok(token, 'vendors.accounts.put', {
      host_name: 'up42',
      credentials: { user: up42.user, password: up42.password },
    })
    assert.match(account.detail, /Account of imagery@example\.com; cannot be ordered before .*Pléiades display/)
    await w.ok(token, 'vendors.accounts.delete', { host_name: 'up42' })
    up42.faults.isUnlicensed = false
    assert.deepEqual((await w.ok(token, 'orders.archive.estimate', { captures })).errors, [])
    assert.equal(up42.orders.length, 0)
  })

  await t.test('the order form is filled in, and the tag is ours', async () => {
    const order = await buy()
    await w.runTask(place, { group_id: order.groups[0].id })
    const [placed] = up42.orders
    assert.deepEqual(placed!.params, { radiometricProcessing: 'display', id: scenes[0]!.id })
    assert.deepEqual(placed!.tags, [`gt-${order.groups[0].id}`])
    await work(w, [order.id])
    assert.equal((await call('orders.get', { id: order.id })).status, 'fulfilled')
  })

  await t.test('an order waits while its archive is taken apart, by whichever name its items are found', async () => {
    up42.faults.extraction = 'IN_PROGRESS'
    const order = await buy()
    await w.runTask(place, { group_id: order.groups[0].id })
    await up42.files(up42.orders.at(-1)!.id)
    const standing = async () => {
      w.clock.advance({ seconds: 600 })
      await w.runTask(poll, { order_id: order.id })
      return (await w.db.selectFrom('imagery_order').select('status').where('id', '=', order.id).executeTakeFirstOrThrow()).status
    }
    assert.equal(await standing(), 'awaiting_data')
    up42.faults.extraction = 'NOT_PROCESSED'
    assert.equal(await standing(), 'awaiting_data')
    up42.faults.extraction = null
    up42.faults.orderProperty = 'up42-order:id'
    await work(w, [order.id])
    up42.faults.orderProperty = 'order_id'
    assert.equal((await call('orders.get', { id: order.id })).status, 'fulfilled')
  })

  await t.test('what UP42 has passed on is not cancelled; cancelling twice changes nothing', async () => {
    const product = w.platform.services.vendors.product(DISPLAY)!
    const request = {
      reference: crypto.randomUUID(),
      createdAt: w.clock.now(),
      expectedCents: null,
      productId: product.id,
      licenseType: 'standard',
      captures: [{ sceneId: scenes[1]!.id, geometry: square() }],
    }
    const { id } = await shop.placeOrder(request)
    assert.equal((await shop.findOrder(request))!.id, id)
    assert.equal((await shop.cancelOrder(id)).status, 'cancelled')
    assert.equal((await shop.cancelOrder(id)).status, 'cancelled')
    const late = await shop.placeOrder({ ...request, reference: crypto.randomUUID() })
    w.clock.advance({ seconds: 2 * STEP_SECONDS })
    await assert.rejects(shop.cancelOrder(late.id), (error) => error instanceof VendorError && error.code === 'refused')
    await assert.rejects(shop.order('nothing'), (error) => error instanceof VendorError && error.code === 'not-found')
    assert.equal(await shop.findOrder({ ...request, reference: crypto.randomUUID() }), null)
  })
  assert.deepEqual(await orderViolations(w.db), [])
})

test('new images from UP42', async (t) => {
  const { w, up42, shop } = await open(t)
  const org = await w.organization()
  await grant(w, org, 1_000_000)
  const call = async (id: string, input: object) => {
    Object.assign(org.owner, await w.signIn(org.owner, org.id))
    return await w.ok(org.owner.token, id, input)
  }
  const group = { dataProduct: TASKING, featureCollection: features(square(2.3, 48.2, 0.005)), params: WINDOW }
  const start = () => call('orders.tasking.place', { projectId: org.projectId, groups: [group] })
  const studyOf = async (orderId: string) => (await call('orders.tasking.feasibility_studies.list', { orderId })).content[0]
  const quotationOf = async (orderId: string) => (await call('orders.tasking.quotations.list', { orderId })).content[0]
  const quoted = async (orderId: string) => {
    await work(w, [orderId], until('feasibility_ready'))
    const study = await studyOf(orderId)
    await call('orders.tasking.feasibility_decide', { study_id: study.id, acceptedOptionId: study.options[0].id })
    await work(w, [orderId], until('quotation_ready'))
    return { study, quotation: await quotationOf(orderId) }
  }

  await t.test('a study, a quotation, an image: one order at UP42, which costs what was quoted', async () => {
    const before = await balance(w, org)
    const { groups } = await call('orders.tasking.estimate', { groups: [group] })
    const order = await start()
    up42.faults.lostPlacements = 1
    const { study, quotation } = await quoted(order.id)
    assert.equal(study.options.length, 2)
    assert.equal(study.options[0].credits, groups[0].credits, 'an option has no price of its own: the estimate is reserved')
    assert.ok(quotation.creditsPrice > groups[0].credits, 'the quotation has another price')
    assert.deepEqual(up42.orders[0]!.quotation, null)
    await call('orders.tasking.quotation_decide', { quotation_id: quotation.id, decision: 'ACCEPTED' })
    await work(w, [order.id])
    const done = await call('orders.get', { id: order.id })
    assert.deepEqual(
      [done.status, done.capturedCredits, done.itemIds.length],
      ['fulfilled', quotation.creditsPrice, 1],
      JSON.stringify(done),
    )
    assert.deepEqual([up42.orders.length, up42.orders[0]!.quotation!.decision], [1, 'ACCEPTED'])
    assert.deepEqual(await balance(w, org), [before[0] - quotation.creditsPrice, 0])
  })

  await t.test('a quotation that is rejected here is rejected at UP42, and costs nothing', async () => {
    const before = await balance(w, org)
    const order = await start()
    const { quotation } = await quoted(order.id)
    await call('orders.tasking.quotation_decide', { quotation_id: quotation.id, decision: 'REJECTED' })
    await work(w, [order.id])
    assert.equal(up42.orders.at(-1)!.quotation!.decision, 'REJECTED')
    assert.deepEqual([(await call('orders.get', { id: order.id })).status, await balance(w, org)], ['cancelled', before])
  })

  await t.test('an order that is cancelled before its study is cancelled at UP42', async () => {
    const order = await start()
    await work(w, [order.id], until('feasibility_ready'))
    await call('orders.cancel', { id: order.id })
    await work(w, [order.id])
    assert.equal(up42.orders.at(-1)!.isCancelled, true)
  })

  await t.test('an order that is cancelled before UP42 confirmed it is found there by its tag, and cancelled', async () => {
    const count = up42.orders.length
    const order = await start()
    up42.faults.lostPlacements = 1
    await w.runTask(askVendor, { group_id: order.groups[0].id })
    assert.deepEqual([up42.orders.length, up42.orders.at(-1)!.isCancelled], [count + 1, false])
    await call('orders.cancel', { id: order.id })
    await w.runTask(withdraw, { group_id: order.groups[0].id })
    assert.deepEqual([up42.orders.length, up42.orders.at(-1)!.isCancelled], [count + 1, true])
  })

  await t.test('several areas are several groups, and passes are not known', async () => {
    const two = { ...group, featureCollection: features(square(2.3, 48.2, 0.005), square(2.4, 48.2, 0.005)) }
    const { errors } = await call('orders.tasking.estimate', { groups: [two] })
    assert.match(errors[0].reason, /order several areas as several groups/)
    await assert.rejects(
      shop.opportunities({ productId: '', area: square(), from: DAYS.from, to: DAYS.to, limit: 1 }),
      (error) => error instanceof VendorError && error.code === 'refused',
    )
  })
  assert.deepEqual(await orderViolations(w.db), [])
})
