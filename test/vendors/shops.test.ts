// Goal: with every adapter of a real vendor, an order buys once whatever gets lost, delivers what was ordered, costs what was shown, and
// a vendor that misreports anything is not paid. Each adapter runs the same scenario against its simulator.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import place from '#domains/orders/place.task.ts'
import poll from '#domains/orders/poll.task.ts'
import { orderViolations } from '../orders/invariants.ts'
import { balance, grant, square, step } from '../orders/support.ts'
import { testClock, world, type Org, type World } from '../support/world.ts'
import type { SimulatedVendor, StartVendor } from './simulated-vendor.ts'
import { simulatedPlanet } from './planet.ts'
import { simulatedSkyfi } from './skyfi.ts'
import { simulatedUmbra } from './umbra.ts'
import { simulatedUp42 } from './up42.ts'

/** Each adapter plugs in here. */
const VENDORS: Readonly<Record<string, StartVendor>> = {
  skyfi: (_t, setup) => simulatedSkyfi(setup),
  planet: (_t, setup) => simulatedPlanet(setup),
  up42: (_t, setup) => simulatedUp42(setup),
  umbra: (_t, setup) => simulatedUmbra(setup),
}

const RATE = { audPerUnit: 1.5, day: '2029-12-31', marginPercent: 3 }
const MARKUP_PERCENT = 10
const MAX_ROUNDS = 200
const PAUSE_MS = 200

for (const [name, start] of Object.entries(VENDORS)) test(name, async (t) => await scenario(t, start))

// oxlint-disable-next-line typescript/no-explicit-any
type Order = any

async function scenario(t: TestContext, start: StartVendor): Promise<void> {
  const workDir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-vendor-'))
  const clock = testClock('2030-01-01T00:00:00.000Z')
  const vendor = await start(t, { clock, workDir, exchange: new Map(['USD', 'EUR'].map((currency) => [currency, RATE])) })
  t.after(async () => {
    await vendor.close()
    rmSync(workDir, { recursive: true, force: true })
  })
  const { hasSearchPrices = true, statesCharges = vendor.statesPrices } = vendor
  const w = await world(t, { clock, sources: vendor.sources, egressAllow: vendor.egressAllow })
  const org = await w.organization()
  await grant(w, org, 10_000_000)
  const buyer = new Buyer(w, org, vendor)
  const scenes: string[] = []

  await t.test('a search is paged, and every scene comes once', async () => {
    let next: string | null = null
    for (let page = 0; page < 3; page++) {
      const found = await buyer.ok('catalog.search', { ...buyer.search(), limit: 2, ...(next === null ? {} : { next }) })
      assert.equal(found.features.length, 2)
      for (const { id, properties } of found.features) {
        scenes.push(id)
        assert.equal(properties.creditsPerSqKm > 0, hasSearchPrices)
        assert.ok(properties.dataProduct, 'it is for sale')
      }
      next = found.links.find(({ rel }: { rel: string }) => rel === 'next').body.next
    }
    assert.equal(new Set(scenes).size, 6)
    const [scene] = scenes
    assert.equal((await buyer.ok('catalog.item.get', { host_name: vendor.hostName, id: scene })).id, scene)
  })

  await t.test('a preview is shown, and the credential stays with the API', async () => {
    const reply = await w.call(org.owner.token, 'catalog.image.thumbnail', { host_name: vendor.hostName, image_id: scenes[0] })
    assert.deepEqual([reply.status, reply.headers.get('content-type')], [200, 'image/png'])
    assert.equal(vendor.leaked(), false)
  })

  await t.test('the price is converted with margin and markup, rounded up once, and kept with the group', async () => {
    const { groups, total_credits } = await buyer.ok('orders.archive.estimate', { captures: buyer.captures(scenes.slice(0, 2)) })
    assert.equal(groups.length, Math.ceil(2 / vendor.scenesPerOrder), 'as many orders as the vendor needs for two scenes')
    const { groups: alone } = await buyer.ok('orders.archive.estimate', { captures: buyer.captures(scenes.slice(0, 1)) })
    const [group] = alone
    const order = await buyer.place([scenes[0]!])
    const row = await buyer.group(order.id)
    assert.equal(row.reserved_credits, group.credits)
    const exact = row.vendor_cents! * RATE.audPerUnit * (1 + RATE.marginPercent / 100) * (1 + MARKUP_PERCENT / 100)
    assert.ok(Math.abs(group.credits - exact) <= 2, `${group.credits} for ${exact}`)
    assert.ok(Math.abs(total_credits - 2 * group.credits) < groups.length + 1, 'rounded once per order')
    assert.deepEqual(
      [row.vendor_currency, row.exchange_rate, row.exchange_margin_percent, row.markup_percent, row.is_billed_by_vendor],
      [vendor.currency, RATE.audPerUnit, RATE.marginPercent, MARKUP_PERCENT, false],
    )
    await buyer.ok('orders.cancel', { id: order.id })
    assert.equal(vendor.orderCount(), 0, 'an order that was not sent yet can be cancelled')
  })

  await t.test('the response to the placement is lost: the next attempt finds the order, and buys nothing', async () => {
    const before = await balance(w, org)
    const order = await buyer.place([scenes[0]!])
    vendor.faults.losePlacement()
    await w.runTask(place, { group_id: order.groups[0].id })
    assert.deepEqual([vendor.orderCount(), (await buyer.get(order.id)).groups[0].status], [1, 'waiting'])
    await buyer.end(order.id, async () => {
      vendor.faults.expireLink()
      vendor.faults.breakTransfer()
    })
    const done = await buyer.get(order.id)
    assert.deepEqual([done.status, done.capturedCredits], ['fulfilled', order.totalCredits], JSON.stringify(done))
    assert.equal(vendor.orderCount(), 1)
    assert.deepEqual(await balance(w, org), [before[0] - order.totalCredits, 0])
    await buyer.requireDelivered(done, scenes[0]!)
    assert.equal(vendor.leaked(), false, 'signed links never see the credential')
    const { vendor_charged_cents: charged } = await buyer.group(order.id)
    assert.equal(charged !== null && charged > 0, statesCharges)
  })

  await t.test('two placements at once send one order', async () => {
    const count = vendor.orderCount()
    const order = await buyer.place([scenes[1]!])
    const data = { group_id: order.groups[0].id }
    await Promise.all([w.runTask(place, data), w.runTask(place, data), w.runTask(place, data)])
    assert.equal(vendor.orderCount(), count + 1)
    await buyer.end(order.id)
  })

  await t.test('401 in mid-run, requests over the limit and an unknown state fail no order', async () => {
    const order = await buyer.place([scenes[2]!])
    vendor.faults.refuseCredential(1)
    await w.runTask(place, { group_id: order.groups[0].id })
    assert.equal((await buyer.get(order.id)).groups[0].status, 'waiting')
    assert.ok(
      w.logLines.some((line) => line.includes('refused the credentials')),
      'the operator is told',
    )
    await buyer.steps(order.id, 3)
    vendor.faults.refuseCredential(2)
    await buyer.steps(order.id, 2)
    vendor.faults.refuseCredential(0)
    vendor.faults.setState('BEING_POLISHED')
    await buyer.steps(order.id, 3)
    assert.ok(w.logLines.some((line) => line.includes('BEING_POLISHED')))
    assert.equal((await buyer.get(order.id)).status, 'awaiting_data')
    vendor.faults.setState(null)
    vendor.faults.limitRequests(1)
    await buyer.end(order.id)
    assert.equal((await buyer.get(order.id)).status, 'fulfilled')
  })

  await t.test('the account must not buy: the order fails with the reason of the vendor, and nothing is charged', async () => {
    const [before, count] = [await balance(w, org), vendor.orderCount()]
    const order = await buyer.place([scenes[3]!])
    vendor.faults.refuseBudget()
    await buyer.end(order.id)
    const done = await buyer.get(order.id)
    assert.equal(done.status, 'failed')
    assert.match(done.failureReason, vendor.budgetReason)
    assert.deepEqual([await balance(w, org), vendor.orderCount()], [before, count])
  })

  for (const [lie, { tell, undo, reason, isPlaced }] of Object.entries(vendor.faults.lies))
    await t.test(`a vendor that ${lie} is not paid`, async () => {
      const [before, count] = [await balance(w, org), vendor.orderCount()]
      const order = await buyer.place([scenes[4]!])
      tell()
      await buyer.end(order.id)
      undo()
      const done = await buyer.get(order.id)
      assert.deepEqual([done.status, done.itemIds, done.capturedCredits], ['failed', [], 0], JSON.stringify(done))
      assert.match(done.failureReason, reason)
      assert.deepEqual(await balance(w, org), before)
      assert.equal(vendor.orderCount(), count + (isPlaced ? 1 : 0))
    })

  await t.test('cancelling is refused or done as the vendor does it', async () => {
    const before = await balance(w, org)
    const order = await buyer.place([scenes[5]!])
    await w.runTask(place, { group_id: order.groups[0].id })
    if (vendor.isCancellable) {
      await buyer.ok('orders.cancel', { id: order.id })
      assert.deepEqual([(await buyer.get(order.id)).status, await balance(w, org)], ['cancelled', before])
      await buyer.steps(order.id, vendor.states)
      assert.deepEqual((await buyer.get(order.id)).itemIds, [])
    }
    const late = vendor.isCancellable ? await buyer.place([scenes[5]!]) : order
    await w.runTask(place, { group_id: late.groups[0].id })
    if (vendor.isCancellable) w.clock.advance({ seconds: 2 * vendor.stepSeconds })
    const { status, body } = await buyer.call('orders.cancel', { id: late.id })
    assert.equal(status, 400)
    assert.match(body.detail, vendor.isCancellable ? /already accepted this order/ : /does not cancel orders/)
    await buyer.end(late.id)
    assert.equal((await buyer.get(late.id)).status, 'fulfilled')
  })

  await t.test('areas that the vendor cannot sell are refused with the reason before anything is sent', async () => {
    const { geometry, reason } = vendor.refusedArea
    const { errors } = await buyer.ok('orders.archive.estimate', { captures: [{ id: scenes[0], geometry, host: vendor.hostName }] })
    assert.match(errors[0].reason, reason)
  })

  await t.test("an organization's own account: a wrong key is reported at once, and nothing is stored", async () => {
    const { status, body } = await buyer.call('vendors.accounts.put', { host_name: vendor.hostName, credentials: vendor.wrongSecret })
    assert.equal(status, 400)
    assert.match(body.detail, /does not accept these credentials; nothing was stored/)
    assert.deepEqual((await buyer.ok('vendors.accounts.list')).accounts, [])
  })

  await t.test('the vendor bills the organization: no imagery credits are reserved, and the estimate says so', async () => {
    const account = await buyer.ok('vendors.accounts.put', { host_name: vendor.hostName, credentials: vendor.secret })
    assert.equal(account.status, 'accepted')
    const before = await balance(w, org)
    const { groups, total_credits } = await buyer.ok('orders.archive.estimate', { captures: buyer.captures([scenes[0]!]) })
    assert.deepEqual([total_credits, groups[0].billedByVendor.currency], [0, vendor.currency])
    assert.equal(groups[0].billedByVendor.amount > 0, vendor.statesPrices)
    assert.equal(groups[0].billedByVendor.amount === null, !vendor.statesPrices, 'or as the contract says')
    const [{ properties }] = (await buyer.ok('catalog.search', { ...buyer.search(), limit: 1 })).features
    assert.deepEqual(
      [properties.billedByVendor?.currency, properties.creditsPerSqKm],
      [hasSearchPrices ? vendor.currency : undefined, undefined],
    )
    const order = await buyer.place([scenes[0]!])
    assert.deepEqual([order.totalCredits, order.groups[0].billedByVendor], [0, groups[0].billedByVendor])
    await w.runTask(place, { group_id: order.groups[0].id })
    const refused = await buyer.call('vendors.accounts.delete', { host_name: vendor.hostName })
    assert.equal(refused.status, 400)
    assert.match(refused.body.detail, /Open orders use this account/)
    vendor.faults.refuseCredential(1)
    w.clock.advance({ seconds: vendor.stepSeconds })
    await w.runTask(poll, { order_id: order.id })
    assert.equal((await buyer.ok('vendors.accounts.list')).accounts[0].status, 'refused')
    assert.equal((await buyer.ok('vendors.accounts.check', { host_name: vendor.hostName })).status, 'accepted')
    await buyer.end(order.id)
    const done = await buyer.get(order.id)
    assert.deepEqual([done.status, done.capturedCredits, done.itemIds.length], ['fulfilled', 0, 1], JSON.stringify(done))
    assert.deepEqual(await balance(w, org), before)
    await buyer.ok('vendors.accounts.delete', { host_name: vendor.hostName })
    assert.equal((await buyer.get(order.id)).groups[0].billedByVendor.currency, vendor.currency, 'the books keep it')
  })

  await t.test('no secret is in a log or in the database', async () => {
    const rows = await w.db.selectFrom('vendor_account').selectAll().execute()
    const audit = await w.db.selectFrom('audit').selectAll().execute()
    assert.doesNotMatch(JSON.stringify([rows, audit, w.logLines]), new RegExp(vendor.secretText))
  })
  assert.deepEqual(await orderViolations(w.db), [])
}

/** One organization's member who buys, and the worker behind. */
class Buyer {
  readonly #w: World
  readonly #org: Org
  readonly #vendor: SimulatedVendor

  constructor(w: World, org: Org, vendor: SimulatedVendor) {
    this.#w = w
    this.#org = org
    this.#vendor = vendor
  }

  /** Sessions are shorter than orders take. */
  async call(id: string, input: object = {}) {
    Object.assign(this.#org.owner, await this.#w.signIn(this.#org.owner, this.#org.id))
    return await this.#w.call(this.#org.owner.token, id, input)
  }

  async ok(id: string, input: object = {}): Promise<Order> {
    const { status, body } = await this.call(id, input)
    assert.equal(status, 200, `${id}: ${JSON.stringify(body)}`)
    return body
  }

  search() {
    return { host_name: this.#vendor.hostName, intersects: square(), datetime: '2029-10-01T00:00:00Z/2029-12-31T00:00:00Z' }
  }

  captures(ids: readonly string[]) {
    return ids.map((id) => ({ id, geometry: square(), host: this.#vendor.hostName }))
  }

  place(ids: readonly string[]): Promise<Order> {
    return this.ok('orders.archive.place', { projectId: this.#org.projectId, captures: this.captures(ids) })
  }

  get(id: string): Promise<Order> {
    return this.ok('orders.get', { id })
  }

  async group(orderId: string) {
    return await this.#w.db.selectFrom('order_group').selectAll().where('order_id', '=', orderId).executeTakeFirstOrThrow()
  }

  async steps(orderId: string, count: number): Promise<void> {
    for (let round = 0; round < count; round++) await step(this.#w, [orderId], this.#vendor.stepSeconds)
  }

  /** Works until the order has ended; `beforeDelivery` runs when its files are about to be fetched. */
  async end(orderId: string, beforeDelivery?: () => Promise<void>): Promise<void> {
    let isWarned = false
    for (let round = 0; round < MAX_ROUNDS; round++) {
      await this.steps(orderId, 1)
      const { status } = await this.#w.db.selectFrom('imagery_order').select('status').where('id', '=', orderId).executeTakeFirstOrThrow()
      if (['fulfilled', 'failed', 'cancelled'].includes(status)) return
      if (!isWarned && (await this.group(orderId)).status === 'delivering') {
        isWarned = true
        await beforeDelivery?.()
      }
      await pause(PAUSE_MS) // Files are made in another process.
    }
    throw new Error('the order did not end')
  }

  /** One item with the files, roles and bytes that the vendor has. */
  async requireDelivered(order: Order, sceneId: string): Promise<void> {
    const files = await this.#vendor.lastFiles()
    assert.equal(order.itemIds.length, 1)
    const item = await this.#w.db.selectFrom('item').selectAll().where('id', '=', order.itemIds[0]).executeTakeFirstOrThrow()
    const assets = await this.#w.db.selectFrom('asset').selectAll().where('item_seq', '=', item.seq).orderBy('key').execute()
    assert.equal(item.stac_id, sceneId)
    assert.deepEqual(
      assets.map(({ key, roles, file_size_bytes: size, sha256 }) => [key, roles, Number(size), sha256!.toString('hex')]),
      files
        .toSorted((a, b) => (a.key < b.key ? -1 : 1))
        .map(({ key, role, bytes }) => [key, [role], bytes.length, createHash('sha256').update(bytes).digest('hex')]),
    )
  }
}
