// Goal: whatever a vendor sends, each adapter asks for a bounded number of pages and reads a bounded number of bytes, and then says what
// it did not do: an order that may be on a later page is not placed again, and a delivery that is too large is not taken in part.
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { parseRegistry } from '#adapters/vendors/registry.ts'
import { newId } from '#core/ids.ts'
import { VendorError, type VendorErrorCode } from '#ports/vendors/call.ts'
import type { VendorOrderRequest } from '#ports/vendors/shop.ts'
import { square } from '../orders/support.ts'
import { until } from '../support/service.ts'
import { world } from '../support/world.ts'
import { planetRegistry } from './planet.ts'
import { stapiRegistry } from './stapi.ts'
import { up42Registry } from './up42.ts'

const MIB = 1024 * 1024
const AREA = square(2.3, 48.2, 0.005)
const NOW = '2030-01-01T00:00:00.000Z'
const STAPI_PRODUCT = '7f7f1c1e-0000-4000-8000-000000000001'
const WINDOW = { acquisitionStart: '2030-01-02T00:00:00Z', acquisitionEnd: '2030-01-20T00:00:00Z' }

type Answer = (request: { url: URL; send: (body: unknown) => void; response: ServerResponse }) => void

/** A server that is a vendor of each kind, and never comes to an end. */
async function startEndless(t: TestContext) {
  const asked: string[] = []
  const routes = new Map<string, Answer>()
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url!, `http://${request.headers.host}`)
    const route = [...routes.keys()].find((each) => new RegExp(`^${each}$`).test(`${request.method} ${url.pathname}`))
    if (route === undefined) return void response.writeHead(404).end()
    asked.push(route)
    const send = (body: unknown) => void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    return routes.get(route)!({ url, send, response })
  }
  const server = createServer((request, response) => {
    response.on('error', () => {}) // Whoever has read enough hangs up.
    request.resume()
    listener(request, response)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const count = (route: string) => asked.filter((each) => each === route).length
  return { host, url: `http://${host}`, routes, count }
}

/** Sends blanks until nobody reads on, and counts them. */
function pour(response: ServerResponse): { bytes: number } {
  const poured = { bytes: 0 }
  const chunk = Buffer.alloc(MIB, ' ')
  const more = () => {
    while (!response.destroyed && poured.bytes < 200 * MIB) {
      poured.bytes += chunk.length
      if (!response.write(chunk)) return void response.once('drain', more)
    }
    response.end()
  }
  response.writeHead(200, { 'content-type': 'application/json' })
  more()
  return poured
}

const requestOf = (more: Partial<VendorOrderRequest>): VendorOrderRequest => ({
  reference: newId(),
  createdAt: new Date(NOW),
  expectedCents: null,
  productId: STAPI_PRODUCT,
  licenseType: 'standard',
  ...more,
})
const archive = { captures: [{ sceneId: 'scene', geometry: AREA }], clipArea: AREA }

test('vendors without an end', async (t) => {
  const server = await startEndless(t)
  const { host, url, routes, count } = server
  const files = [
    planetRegistry({ url: `${url}/planet`, tilesUrl: url, hosts: { api: host, tiles: host, files: host } }),
    up42Registry({ url: `${url}/up42`, authUrl: `${url}/up42/auth`, hosts: { api: host, files: host } }),
    stapiRegistry({ url: `${url}/stapi`, hosts: { api: host, files: host } }),
  ].map((text) => JSON.parse(text) as { providers: object[]; sources: object[] })
  const registry = {
    ...files[0],
    providers: [...files[0]!.providers, ...files[2]!.providers],
    sources: files.flatMap((file) => file.sources),
  }
  const sources = parseRegistry(JSON.stringify(registry), 'the registry of this test', {
    sandboxUrl: null,
    secrets: { VENDOR_PLANET_KEY: 'key', VENDOR_UP42_USER: 'user', VENDOR_UP42_PASSWORD: 'password', VENDOR_STAPI_KEY: 'key' },
  })
  const w = await world(t, { startAt: NOW, sources, egressAllow: [host] })
  const { vendors } = w.platform.services
  const [planet, up42, stapi] = ['planet', 'up42', 'stapi'].map((name) => vendors.shop(name)!)
  const fails = (work: Promise<unknown>, code: VendorErrorCode, message: RegExp) =>
    assert.rejects(work, (error) => error instanceof VendorError && error.code === code && message.test(error.message))

  await t.test('STAPI: 50 pages of orders, 20 of passes, 100 items of a delivery', async () => {
    const product = { id: 'Area:Standard', conformsTo: ['https://geojson.org/schema/Polygon.json'] }
    routes.set('GET /stapi/products/[^/]+', ({ send }) => send(product))
    const [orders, passes] = ['GET /stapi/orders', 'POST /stapi/products/[^/]+/opportunities']
    routes.set(orders, ({ send }) => send({ features: [], links: [{ rel: 'next', href: `${url}/stapi/orders?next=1` }] }))
    await fails(stapi!.placeOrder(requestOf({ area: AREA, params: WINDOW })), 'unavailable', /more than 50 pages of orders/)
    assert.equal(count(orders), 50)
    const pass = { properties: { datetime: `${WINDOW.acquisitionStart}/${WINDOW.acquisitionEnd}`, product_id: 'Area:Standard' } }
    const next = { rel: 'next', href: `${url}/stapi/products/x/opportunities`, method: 'POST', body: {} }
    routes.set(passes, ({ send }) => send({ features: [{ type: 'Feature', ...pass }], links: [next] }))
    const window = { from: new Date(WINDOW.acquisitionStart), to: new Date(WINDOW.acquisitionEnd) }
    const found = await stapi!.opportunities({ productId: STAPI_PRODUCT, area: AREA, ...window, limit: 500 })
    assert.deepEqual([found.length, count(passes)], [20, 20])
    const links = Array.from({ length: 101 }, (_, n) => ({ rel: 'item', href: `${url}/stapi/items/${n}` }))
    const properties = {
      product_id: 'Area:Standard',
      created: NOW,
      status: { timestamp: NOW, status_code: 'completed', links },
      search_parameters: { datetime: `${WINDOW.acquisitionStart}/${WINDOW.acquisitionEnd}`, geometry: AREA },
    }
    routes.set('GET /stapi/orders/[^/]+', ({ send }) => send({ id: 'one', geometry: AREA, properties, links: [] }))
    routes.set('GET /stapi/items/\\d+', ({ url: { pathname }, send }) => send({ id: pathname, properties: {}, assets: {} }))
    await fails(stapi!.order('one'), 'invalid-response', /more than 100 items/)
    assert.equal(count('GET /stapi/items/\\d+'), 101)
  })

  await t.test('UP42: one sign-in for all, 50 pages of newer orders, 100 scenes of a delivery', async () => {
    const token = 'POST /up42/auth/token'
    routes.set(token, ({ send }) => send({ access_token: 'token', expires_in: 300 }))
    const [orders, items] = ['GET /up42/v2/orders', 'POST /up42/v2/assets/stac/search']
    const order = (id: string, status: string) => ({ id, status, type: 'ARCHIVE', tags: [], createdAt: NOW })
    routes.set(orders, ({ send }) => send({ content: [order(newId(), 'CREATED')], totalPages: 1_000_000 }))
    const request = requestOf({ productId: vendors.product('up42-phr-display')!.id, ...archive })
    await fails(up42!.findOrder(request), 'unavailable', /more than 2500 newer orders/)
    assert.equal(count(orders), 50)
    const id = newId()
    routes.set('GET /up42/v2/orders/[^/]+', ({ send }) => send(order(id, 'FULFILLED')))
    const asset = { id: newId(), orderId: id, geospatialMetadataExtractionStatus: 'SUCCESSFUL' }
    routes.set('GET /up42/v2/assets', ({ send }) => send({ content: [asset], totalPages: 1_000_000 }))
    const features = Array.from({ length: 100 }, () => ({ id: newId(), properties: { order_id: id }, assets: {} }))
    routes.set(items, ({ send }) => send({ features, links: [{ rel: 'next', href: `${url}/up42/next` }] }))
    await fails(up42!.order(id), 'refused', /more than 100 scenes/)
    assert.deepEqual([count('GET /up42/v2/assets'), count(items)], [20, 1])
    await Promise.allSettled(Array.from({ length: 20 }, () => up42!.order(id)))
    assert.equal(count(token), 1, 'the token is kept')
  })

  await t.test('Planet: a list that is not filtered is not read on, and a manifest has at most 16 MiB', async () => {
    const orders = 'GET /planet/compute/ops/orders/v2'
    routes.set(orders, ({ send }) => send({ orders: [{ id: newId(), name: 'of somebody else' }], _links: { next: `${url}/planet/next` } }))
    const request = requestOf({ productId: vendors.products.find(({ hostName }) => hostName === 'planet')!.id, ...archive })
    await fails(planet!.placeOrder(request), 'unavailable', /does not filter its orders by name/)
    assert.equal(count(orders), 1)
    const id = newId()
    const results = [{ name: `${id}/manifest.json`, location: `${url}/manifest` }]
    const order = { id, name: 'gt-1', state: 'success', products: [{ item_ids: ['scene'] }], _links: { results } }
    routes.set('GET /planet/compute/ops/orders/v2/[^/]+', ({ send }) => send(order))
    let poured = { bytes: 0 }
    routes.set('GET /manifest', ({ response }) => (poured = pour(response)))
    await fails(planet!.order(id), 'invalid-response', /a manifest that is too large/)
    assert.ok(poured.bytes < 100 * MIB, `${poured.bytes} bytes were sent`)
  })

  await t.test('a host receives 6 requests at a time, 200 wait, more are refused; a failed one is sent 3 times', async () => {
    const route = 'GET /stapi/orders/[^/]+'
    const held: ServerResponse[] = []
    routes.set(route, ({ response }) => void held.push(response))
    const ended = Array.from({ length: 207 }, (_, n) => stapi!.order(`order-${n}`).catch((error: unknown) => String(error)))
    assert.match(String(await Promise.race(ended)), /Too many requests are queued for stapi/)
    await until('the first requests', () => held.length >= 6)
    assert.equal(held.length, 6)
    routes.set(route, ({ response }) => void response.writeHead(404).end())
    for (const response of held) response.writeHead(404).end()
    await Promise.all(ended)
    const before = count(route)
    routes.set(route, ({ response }) => void response.writeHead(503).end())
    await fails(stapi!.order('one'), 'unavailable', /answered 503/)
    assert.equal(count(route), before + 3)
  })

  await t.test('no adapter reads more than 24 MiB of a response, or 64 KiB of a token', async () => {
    let poured = { bytes: 0 }
    for (const [route, work] of [
      ['GET /planet/compute/ops/orders/v2/[^/]+', () => planet!.order('one')],
      ['GET /up42/v2/orders/[^/]+', () => up42!.order('one')],
      ['GET /stapi/orders/[^/]+', () => stapi!.order('one')],
    ] as const) {
      routes.set(route, ({ response }) => (poured = pour(response)))
      await assert.rejects(work(), VendorError)
      assert.ok(poured.bytes >= 24 * MIB && poured.bytes < 100 * MIB, `${route}: ${poured.bytes} bytes were sent`)
    }
    routes.set('POST /up42/auth/token', ({ send }) => send({ access_token: 'x'.repeat(70_000), expires_in: 300 }))
    await fails(vendors.checkAccount('up42', { user: 'another', password: 'password' }), 'unavailable', /token server of up42/)
  })
})
