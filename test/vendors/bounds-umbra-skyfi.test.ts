// Goal: whatever Umbra and SkyFi send, pages, lists, files and bodies stay within limits, and an order is never placed in doubt.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { parseRegistry } from '#adapters/vendors/registry.ts'
import { DAY_MS } from '#core/time.ts'
import { VendorError, type VendorErrorCode } from '#ports/vendors/call.ts'
import { square } from '../orders/support.ts'
import { testClock } from '../support/world.ts'
import { vendorsOf } from './clients.ts'
import { skyfiRegistry } from './skyfi.ts'
import { umbraRegistry } from './umbra.ts'

type Answers = Record<string, unknown>

const SECRETS = { VENDOR_SKYFI_KEY: 'k', VENDOR_UMBRA_CLIENT_ID: 'c', VENDOR_UMBRA_CLIENT_SECRET: 's' }

/** A vendor that answers each route as it is told, by `METHOD /path` without the query. */
async function open(t: TestContext, registryAt: (url: string, host: string) => string) {
  const answers: Answers = { 'POST /oauth/token': { access_token: 'token', expires_in: 86_400 } }
  const asked: string[] = []
  const server = createServer((request, response) => {
    const route = `${request.method} ${request.url!.split('?')[0]}`
    asked.push(route)
    const body = Object.hasOwn(answers, route) ? JSON.stringify(answers[route]) : null
    response.writeHead(body === null ? 404 : 200, { 'content-type': 'application/json' }).end(body ?? '{}')
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const clock = testClock('2030-01-01T00:00:00.000Z')
  const registry = parseRegistry(registryAt(`http://${host}`, host), 'the registry of this test', { sandboxUrl: null, secrets: SECRETS })
  const vendors = vendorsOf({ registry, clock, egressAllow: [host] })
  t.after(async () => {
    await vendors.close()
    await new Promise((closed) => server.close(closed))
  })
  return { answers, asked, vendors, clock }
}

const rejects = async (promise: Promise<unknown>, code: VendorErrorCode) =>
  await assert.rejects(promise, (error) => error instanceof VendorError && error.code === code)

const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index))

test('Umbra', async (t) => {
  const at = (url: string, host: string) => umbraRegistry({ url, tokenUrl: `${url}/oauth/token`, hosts: { api: host, files: host } })
  const { answers, asked, vendors, clock } = await open(t, at)
  const shop = vendors.shop('umbra')!
  const task = (status: string, more: object = {}) => ({ id: 'task', properties: { status, taskName: 'n', userOrderId: 'r', ...more } })
  const request = {
    reference: 'r',
    createdAt: clock.now(),
    expectedCents: null,
    productId: vendors.product('umbra-archive')!.id,
    licenseType: 'standard',
    captures: [{ sceneId: 'scene', geometry: square() }],
  }

  await t.test('it is polled every two minutes at most, and at least every hour', () => {
    assert.deepEqual(vendors.source('umbra')!.poll, { minSeconds: 120, maxSeconds: 3_600 })
    assert.equal(vendors.source('umbra')!.capturesPerOrder, 1)
  })

  await t.test('pages have at most as many scenes as were asked for, and at most 100', async () => {
    const scene = (index: number) => ({ id: `s${index}`, collection: 'umbra-sar', geometry: null, properties: {}, links: [] })
    answers['POST /archive/search'] = { type: 'FeatureCollection', features: many(4, scene) }
    await rejects(vendors.catalog('umbra').search({ bbox: [2, 48, 3, 49], limit: 3 }), 'invalid-response')
    answers['POST /archive/search'] = { type: 'FeatureCollection', features: many(101, scene) }
    await rejects(vendors.catalog('umbra').search({ bbox: [2, 48, 3, 49], limit: 100 }), 'invalid-response')
  })

  await t.test('lists of tasks, collects and items have a maximum length', async () => {
    answers['POST /tasking/tasks/search'] = { features: many(21, () => task('ACTIVE')) }
    await rejects(shop.findOrder(request), 'invalid-response')
    answers['GET /tasking/tasks/task'] = task('DELIVERED')
    const collect = (index: number) => ({ id: `c${index}`, properties: { status: 'DELIVERED' } })
    answers['POST /tasking/collects/search'] = { features: many(101, collect) }
    await rejects(shop.order('task/scene'), 'invalid-response')
    answers['POST /tasking/collects/search'] = { features: many(1, collect) }
    const file = { href: 'https://files.example/a_GEC.tif', type: 'image/tiff' }
    const item = (index: number) => ({ id: `i${index}`, properties: { 'umbra:task_id': 'task' }, assets: { 'a_GEC.tif': file } })
    answers['POST /v2/stac/search'] = { features: many(101, item) }
    await rejects(shop.order('task/scene'), 'invalid-response')
    answers['POST /v2/stac/search'] = { features: many(100, item) }
    assert.equal((await shop.order('task/scene')).files.length, 100)
    const wide = { ...item(0), assets: Object.fromEntries(many(101, (index) => [`a${index}_GEC.tif`, file])) }
    answers['POST /v2/stac/search'] = { features: [wide] }
    await rejects(shop.order('task/scene'), 'invalid-response')
  })

  await t.test('a study offers the 50 earliest passes, and not endlessly many are read', async () => {
    const pass = (index: number) => ({
      windowStartAt: new Date(clock.now().getTime() + (100 - index) * DAY_MS).toISOString(),
      windowEndAt: new Date(clock.now().getTime() + 101 * DAY_MS).toISOString(),
      grazingAngleStartDegrees: 50,
      grazingAngleEndDegrees: 51,
    })
    const study = JSON.stringify({ id: 'f', reference: 'r', cents: 1, reason: null })
    answers['GET /tasking/feasibilities/f'] = { id: 'f', status: 'COMPLETED', opportunities: many(60, pass) }
    const { options } = await shop.study(study)
    assert.deepEqual([options.length, options[0]!.acquisitionStart], [50, pass(59).windowStartAt])
    answers['GET /tasking/feasibilities/f'] = { id: 'f', status: 'COMPLETED', opportunities: many(5_001, pass) }
    await rejects(shop.study(study), 'invalid-response')
  })

  await t.test('a body of more than 24 MiB is not read', async () => {
    answers['GET /tasking/tasks/task'] = task('ACTIVE', { taskName: 'x'.repeat(25 * 1024 * 1024) })
    await rejects(shop.order('task'), 'invalid-response')
  })

  await t.test('nothing was placed', () => {
    assert.deepEqual(
      asked.filter((route) => route === 'POST /tasking/tasks' || route.endsWith('archive-tasks')),
      [],
    )
  })
})

test('SkyFi', async (t) => {
  const { answers, asked, vendors, clock } = await open(t, (url, host) => skyfiRegistry({ url, hosts: { api: host, files: host } }))
  const shop = vendors.shop('skyfi')!
  const productId = vendors.product('skyfi-day-tasking')!.id
  const params = { acquisitionStart: '2030-01-03T00:00:00Z', acquisitionEnd: '2030-01-20T00:00:00Z' }
  const order = (index: number) => ({
    id: `o${index}`,
    orderType: 'TASKING',
    status: 'CREATED',
    createdAt: clock.now().toISOString(),
    orderCost: 1,
    aoiSqkm: 1,
  })
  const request = {
    reference: 'r',
    createdAt: clock.now(),
    expectedCents: null,
    productId,
    licenseType: 'standard',
    area: square(),
    params,
  }

  await t.test('it is polled every minute at most, and at least every half hour', () => {
    assert.deepEqual(vendors.source('skyfi')!.poll, { minSeconds: 60, maxSeconds: 1_800 })
  })

  await t.test('an order is looked for on 50 pages of 100; beyond them, none is placed', async () => {
    answers['GET /orders'] = { orders: many(101, order) }
    await rejects(shop.findOrder(request), 'invalid-response')
    answers['GET /orders'] = { orders: many(100, order) }
    const before = asked.length
    await rejects(shop.placeOrder({ ...request, studyOptionId: 'a|b|' }), 'unavailable')
    assert.deepEqual(
      asked.slice(before),
      many(50, () => 'GET /orders'),
    )
  })

  await t.test('a study offers the 50 earliest passes, and not endlessly many are read', async () => {
    const opportunity = (index: number) => {
      const at = (days: number) => new Date(clock.now().getTime() + days * DAY_MS).toISOString()
      return { windowStart: at(100 - index), windowEnd: at(101) }
    }
    const scored = (count: number) => ({
      id: 'f',
      validUntil: '2031-01-01T00:00:00Z',
      overallScore: {
        providerScore: { providerScores: [{ provider: 'PLANET', status: 'COMPLETE', opportunities: many(count, opportunity) }] },
      },
    })
    const study = JSON.stringify({ id: 'f', provider: 'PLANET', reference: 'r', cents: 1 })
    answers['GET /feasibility/f'] = scored(60)
    const { options } = await shop.study(study)
    assert.deepEqual([options.length, options[0]!.acquisitionStart], [50, opportunity(59).windowStart])
    answers['GET /feasibility/f'] = scored(5_001)
    await rejects(shop.study(study), 'invalid-response')
    const pass = {
      provider: 'PLANET',
      satname: 's',
      noradid: '1',
      productType: 'DAY',
      resolution: 'VERY HIGH',
      passDate: '2030-01-05T10:00:00Z',
      offNadirAngle: 1,
      solarElevationAngle: 1,
      minSquareKms: 1,
      maxSquareKms: 10,
      priceForOneSquareKm: 1,
    }
    answers['POST /feasibility/pass-prediction'] = { passes: many(5_001, () => pass) }
    await rejects(shop.requestStudy({ reference: 'r', productId, area: square(), params }), 'invalid-response')
    answers['POST /feasibility/pass-prediction'] = { passes: many(400, () => pass) }
    const query = { productId, area: square(), from: new Date(params.acquisitionStart), to: new Date(params.acquisitionEnd) }
    assert.equal((await shop.opportunities({ ...query, limit: 20 })).length, 20)
  })
})
