// Goal: kill -9 at any named point of an order's way leaves one order that ends, with money, items and lineage that agree.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { newId } from '#core/ids.ts'
import { openDatabase } from '#db/open.ts'
import { campaign } from '../support/campaign.ts'
import { call, found, ok, PASSWORD, post, type Owner } from '../support/client.ts'
import { createEmptyDatabase } from '../support/database.ts'
import { openLab, type Service } from '../support/service.ts'
import { orderViolations } from './invariants.ts'
import { POINTS, type Point } from './service.ts'
import { square } from './support.ts'

/** Where most can go wrong; the long campaign does all of them. */
const SHORT: readonly Point[] = ['orders.place after-vendor', 'orders.deliver before-commit']
const CHOSEN: readonly Point[] = campaign<readonly Point[]>({ short: SHORT, long: POINTS })
const END_MS = 300_000

test('kill -9 along the way of an order', { timeout: 3_600_000 }, async (t) => {
  const lab = openLab()
  t.after(() => lab.close())
  const database = await createEmptyDatabase()
  t.after(() => database.drop())
  const dataDir = lab.dataDir()
  const start = (point?: Point) =>
    lab.start({
      entry: 'test/orders/service.ts',
      env: {
        DATA_DIR: dataDir,
        DATABASE_URL: database.url,
        DEMO: '0',
        SANDBOX_DELIVERY_SECONDS: '1',
        ...(point ? { KILL_POINT: point } : {}),
      },
    })
  let service: Service = await start()
  let buyer = await found(service.baseUrl, 'buyer@example.com')
  await ok(service.baseUrl, buyer.token, 'payment_methods.attach', { payment_method_id: 'pm_card_visa' })
  await ok(service.baseUrl, buyer.token, 'billing.topup', { aud_cents: 100_000 })
  const { id: projectId } = await ok(service.baseUrl, buyer.token, 'projects.create', { name: 'Deliveries' })
  const search = await ok(service.baseUrl, buyer.token, 'catalog.search', { host_name: 'sandbox-hr', intersects: square(), limit: 1 })
  const captures = [{ id: search.features[0].id, geometry: square(), host: 'sandbox-hr' }]
  const place = (key: string) =>
    call(service.baseUrl, buyer.token, 'orders.archive.place', { projectId, captures }, { 'idempotency-key': key })
  const made: string[] = []

  for (const point of CHOSEN) {
    await t.test(point, async () => {
      await service.kill('SIGKILL')
      service = await start(point)
      buyer = await signedIn(service, buyer)
      const key = newId()
      const first = await place(key).catch(() => null)
      await service.exited
      service = await start()
      const answer = await place(key)
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      if (first) assert.equal(answer.body.id, first.body.id, 'the same key is the same order')
      made.push(answer.body.id)
      const deadline = Date.now() + END_MS
      let order = answer.body
      while (!['fulfilled', 'failed', 'cancelled'].includes(order.status)) {
        assert.ok(Date.now() < deadline, `after ${point} the order does not end: ${JSON.stringify(order)}`)
        await pause(250)
        order = await ok(service.baseUrl, buyer.token, 'orders.get', { id: order.id })
      }
      assert.deepEqual(
        [order.status, order.itemIds.length, order.capturedCredits],
        ['fulfilled', 1, order.totalCredits],
        order.failureReason,
      )
    })
  }

  const list = await ok(service.baseUrl, buyer.token, 'orders.list', { size: 100 })
  assert.deepEqual(list.content.map(({ id }: { id: string }) => id).toSorted(), made.toSorted(), 'one order for each key')
  await service.kill('SIGKILL')
  const { db, close } = openDatabase(database.url, { maxConnections: 2 })
  t.after(close)
  assert.deepEqual(await orderViolations(db), [])
})

/** Anew for each round: a session is shorter than a campaign. */
async function signedIn({ baseUrl }: Service, who: Owner): Promise<Owner> {
  const { body, text } = await post(baseUrl, '/auth/sign-in', { email: who.email, password: PASSWORD, organization_id: who.organizationId })
  if (!body?.access_token) throw new Error(text)
  return { ...who, token: body.access_token }
}
