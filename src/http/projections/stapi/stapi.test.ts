import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { newId } from '#core/ids.ts'
import { balance, features, grant, placeArchive, square, until, work } from '../../../../test/orders/support.ts'
import { world, type Org, type World } from '../../../../test/support/world.ts'

// oxlint-disable-next-line typescript/no-explicit-any
type Json = any

const WINDOW = '2030-01-02T00:00:00Z/2030-01-20T00:00:00Z'
const PRODUCT = 'sandbox-vhr-tasking'
const AREA = square(2.3, 48.2, 0.005)
const AT_MOST_20 = { op: '<=', args: [{ property: 'eo:cloud_cover' }, 20] }
const linkOf = ({ links }: Json, rel: string): Json => links.find((link: { rel: string }) => link.rel === rel)

/** A client with one key, which follows links as they are. */
function clientOf(w: World, token: string) {
  const headers = { authorization: `Bearer ${token}` }
  const get = (path: string) => w.request('GET', path.replace(w.baseUrl, ''), { headers })
  const post = (path: string, body: object, more: Record<string, string> = {}) =>
    w.post(path.replace(w.baseUrl, ''), body, { ...headers, ...more })
  const ok = async (path: string): Promise<Json> => {
    const { status, body } = await get(path)
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }
  return { get, post, ok }
}

const orderBody = (org: Org, more: object = {}) => ({
  datetime: WINDOW,
  geometry: AREA,
  filter: AT_MOST_20,
  order_parameters: { project_id: org.projectId, priority: 'standard', display_name: 'By STAPI' },
  ...more,
})

// Goal: a STAPI client finds the tasking products, their parameters and passes, with paging and the rights of its credential.
test('products and opportunities', async (t) => {
  const w = await world(t, { vendors: true })
  const org = await w.organization()
  const { get, post, ok } = clientOf(w, org.owner.token)

  await t.test('landing page, conformance and API document are public; the rest needs a credential', async () => {
    const { body: landing } = await w.request('GET', '/stapi')
    assert.deepEqual((await w.request('GET', '/stapi/')).body, landing)
    assert.deepEqual((await w.request('GET', '/stapi/conformance')).body.conformsTo, landing.conformsTo)
    for (const rel of ['conformance', 'products', 'orders', 'service-desc', 'service-doc'])
      assert.notEqual((await get(linkOf(landing, rel).href)).status, 404, rel)
    const { body: api } = await w.request('GET', '/stapi/api')
    for (const [path, methods] of Object.entries<object>(api.paths))
      for (const method of Object.keys(methods)) {
        const url = `/stapi${path === '/' ? '' : path}`.replaceAll(/\{\w+\}/g, 'x')
        const isPublic = ['/', '/conformance'].includes(path)
        assert.equal((await w.request(method.toUpperCase(), url)).status, isPublic ? 200 : 401, `${method} ${path}`)
      }
    assert.equal((await w.request('PUT', '/stapi/products')).status, 405)
  })

  await t.test('products are paged, and describe their parameters', async () => {
    const all = (await ok('/stapi/products')).products
    assert.ok(all.length >= 3)
    const paged: string[] = []
    for (let next = '/stapi/products?limit=2'; next;) {
      const page = await ok(next)
      assert.ok(page.products.length <= 2)
      paged.push(...page.products.map(({ id }: { id: string }) => id))
      next = linkOf(page, 'next')?.href
    }
    assert.deepEqual(
      paged,
      all.map(({ id }: { id: string }) => id),
    )
    const product = await ok(`/stapi/products/${PRODUCT}`)
    assert.deepEqual([product.stapi_type, product.id, product.license], ['Product', PRODUCT, 'proprietary'])
    assert.deepEqual((await ok(linkOf(product, 'conformance').href)).conformsTo, product.conformsTo)
    const queryables = await ok(linkOf(product, 'queryables').href)
    assert.deepEqual(Object.keys(queryables.properties), ['eo:cloud_cover', 'view:off_nadir'])
    const parameters = await ok(linkOf(product, 'order-parameters').href)
    assert.deepEqual([parameters.required, parameters.properties.priority.enum], [['project_id'], ['standard', 'priority']])
    assert.equal(parameters.properties.acquisitionStart, undefined)
  })

  await t.test('unknown products, archive products and invalid pages are refused', async () => {
    const missing = await get('/stapi/products/sandbox-vhr-taskin')
    assert.deepEqual([missing.status, missing.body.detail], [404, `No such product 'sandbox-vhr-taskin'; did you mean ${PRODUCT}?`])
    assert.equal((await get('/stapi/products/sandbox-hr-archive')).status, 404)
    const search = { datetime: WINDOW, geometry: AREA }
    assert.equal((await post('/stapi/products/nothing/opportunities', search)).status, 404)
    assert.equal((await post('/stapi/products/sandbox-hr-archive/opportunities', search)).status, 400)
    for (const query of ['limit=0', 'limit=x', 'next=x', 'next=-1', 'next=99999'])
      assert.equal((await get(`/stapi/products?${query}`)).status, 422, query)
    assert.equal((await get('/stapi/products?limit=100000')).status, 200)
  })

  await t.test('passes are paged; a filter limits them; an order of the window is linked', async () => {
    const path = `/stapi/products/${PRODUCT}/opportunities`
    const { status, body, headers } = await post(path, { datetime: WINDOW, geometry: AREA, limit: 3 }, { prefer: 'wait' })
    assert.deepEqual([status, body.features.length, headers.get('preference-applied')], [200, 3, 'wait'])
    const next = linkOf(body, 'next')
    const second = await post(next.href, next.body)
    assert.equal(second.status, 200)
    const [first] = body.features
    const bbox = first.bbox.map((value: number) => Number(value.toFixed(6)))
    assert.ok(first.properties.datetime < second.body.features[0].properties.datetime)
    assert.deepEqual([first.geometry, bbox, first.properties.product_id], [AREA, [2.3, 48.2, 2.305, 48.205], PRODUCT])
    const filter = { op: 'and', args: [AT_MOST_20, { op: 'between', args: [{ property: 'view:off_nadir' }, 0, 12] }] }
    const limited = (await post(path, { datetime: WINDOW, geometry: AREA, filter, limit: 100 })).body
    assert.ok(limited.features.length > 0)
    for (const { properties } of limited.features) assert.ok(properties['view:off_nadir'] <= 12)
    assert.deepEqual(linkOf(limited, 'create-order').body.filter, filter)
    const point = { type: 'Point', coordinates: [2.3, 48.2] }
    const open = (await post(path, { datetime: '../2030-01-10T00:00:00Z', geometry: point, filter: null, next: null })).body
    assert.deepEqual(open.features[0].bbox, [2.3, 48.2, 2.3, 48.2])
    assert.match(linkOf(open, 'create-order').body.datetime, /^2030-01-01T.*\/2030-01-10T/)
  })

  await t.test('invalid searches name the field that was sent', async () => {
    const wrong: [object, string][] = [
      [{ datetime: '2030-01-02T00:00:00Z' }, 'datetime'],
      [{ datetime: '../..' }, 'datetime'],
      [{ datetime: '2030-01-02T00:00:00Z/2031-01-02T00:00:00Z' }, 'datetime'],
      [{ geometry: undefined }, 'geometry'],
      [{ geometry: { type: 'LineString', coordinates: [[2, 48]] } }, 'geometry'],
      [{ geometry: { type: 'LineString', coordinates: [[2, 48], [3, 48]] } }, 'geometry'], // oxfmt-ignore
      [{ filter: 'eo:cloud_cover < 3' }, 'filter'],
      [{ filter: { op: '<', args: [{ property: 'eo:cloud_cover' }, 3] } }, 'filter'],
      [{ filter: { op: '<=', args: [{ property: 'gsd' }, 3] } }, 'filter'],
      [{ filter: { op: '<=', args: [{ property: 'view:off_nadir' }, 90] } }, 'filter.view:off_nadir'],
      [{ limit: '5' }, 'limit'],
      [{ next: 7 }, 'next'],
      [{ geometrie: AREA }, 'geometrie'],
    ]
    for (const [change, field] of wrong) {
      const { status, body } = await post(`/stapi/products/${PRODUCT}/opportunities`, { datetime: WINDOW, geometry: AREA, ...change })
      assert.deepEqual([status, body.errors?.[0].field], [422, field], JSON.stringify([change, body]))
    }
  })
})

// Goal: an order by STAPI is the same order as by our operations: nothing is reserved before its price is accepted, each state has the
// standard's code, what is delivered is linked as STAC items, and nobody else sees it.
test('orders', async (t) => {
  const w = await world(t, { vendors: true })
  const org = await w.organization()
  await grant(w, org, 1_000_000)
  const { get, post, ok } = clientOf(w, org.owner.token)
  const placed = async (product = PRODUCT, more: object = {}): Promise<Json> => {
    const { status, body, headers } = await post(`/stapi/products/${product}/orders`, orderBody(org, more), { 'idempotency-key': newId() })
    assert.equal(status, 201, JSON.stringify(body))
    assert.equal(headers.get('location'), linkOf(body, 'self').href)
    return body
  }
  const codeOf = async (id: string) => (await ok(`/stapi/orders/${id}`)).properties.status.status_code
  const codesOf = async (id: string) =>
    (await ok(`/stapi/orders/${id}/statuses`)).statuses.map(({ status_code }: { status_code: string }) => status_code)
  const follow = (link: Json) => post(link.href, link.body, { 'idempotency-key': newId() })

  await t.test('received, reserved with a link for each option, accepted, scheduled, completed with items', async () => {
    const before = await balance(w, org)
    const order = await placed()
    const { product_id, status, search_parameters, order_parameters } = order.properties
    assert.deepEqual([product_id, status.status_code], [PRODUCT, 'received'])
    assert.deepEqual([search_parameters.geometry, search_parameters.filter, order.geometry], [AREA, AT_MOST_20, AREA])
    assert.deepEqual(
      [order_parameters.priority, order_parameters.project_id, order_parameters.display_name],
      ['standard', org.projectId, 'By STAPI'],
    )
    await work(w, [order.id], until('feasibility_ready'))
    assert.deepEqual(await balance(w, org), before, 'nothing is reserved')
    const { status: reserved } = (await ok(`/stapi/orders/${order.id}`)).properties
    assert.deepEqual([reserved.status_code, reserved.reason_code], ['reserved', 'feasibility_ready'])
    const options = reserved.links.filter(({ rel }: { rel: string }) => rel === 'accept-option')
    assert.equal(options.length, 3)
    assert.equal((await follow(options[0])).status, 200)
    const credits = options[0].body.maxCredits
    assert.deepEqual(await balance(w, org), [before[0] - credits, credits])
    assert.equal(await codeOf(order.id), 'accepted')
    await work(w, [order.id])
    const done = await ok(`/stapi/orders/${order.id}`)
    assert.deepEqual(await codesOf(order.id), ['received', 'accepted', 'scheduled', 'completed'])
    assert.equal(linkOf(done, 'cancel'), undefined)
    const item = await ok(linkOf(done.properties.status, 'item').href)
    assert.equal(item.properties['svc:order_id'], order.id)
    assert.deepEqual(
      (await ok(linkOf(done.properties.status, 'items').href)).features.map(({ id }: { id: string }) => id),
      [item.id],
    )
  })

  await t.test('a quotation is accepted or rejected by links, and an order cancelled by one', async () => {
    const before = await balance(w, org)
    const [yes, no, gone] = [await placed('sandbox-vhr-quoted'), await placed('sandbox-vhr-quoted'), await placed()]
    await work(w, [yes.id, no.id], until('quotation_ready'))
    const decide = async ({ id }: Json, rel: string) => follow(linkOf((await ok(`/stapi/orders/${id}`)).properties.status, rel))
    assert.equal((await decide(yes, 'accept-quotation')).status, 200)
    assert.equal((await decide(no, 'reject-quotation')).status, 200)
    assert.deepEqual([await codeOf(yes.id), await codeOf(no.id)], ['accepted', 'rejected'])
    for (const { id } of [yes, gone]) assert.equal((await follow(linkOf(await ok(`/stapi/orders/${id}`), 'cancel'))).status, 200)
    assert.deepEqual([await codeOf(yes.id), await codeOf(gone.id)], ['user_cancelled', 'user_cancelled'])
    assert.deepEqual(await balance(w, org), before)
  })

  await t.test('orders are listed newest first, in pages, without archive orders', async () => {
    await placeArchive(w, org)
    const several = await w.ok(org.owner.token, 'orders.tasking.place', {
      projectId: org.projectId,
      groups: [2.3, 2.4].map((west) => ({
        dataProduct: PRODUCT,
        featureCollection: features(square(west, 48.2, 0.005)),
        params: { acquisitionStart: '2030-01-02T00:00:00Z', acquisitionEnd: '2030-01-20T00:00:00Z' },
      })),
    })
    const ids: string[] = []
    for (let next = '/stapi/orders?limit=2'; next;) {
      const page = await ok(next)
      ids.push(...page.features.map(({ id }: { id: string }) => id))
      next = linkOf(page, 'next')?.href
    }
    const { content } = await w.ok(org.owner.token, 'orders.list', { type: 'TASKING' })
    assert.deepEqual(
      ids,
      content.map(({ id }: { id: string }) => id),
    )
    const { geometry } = await ok(`/stapi/orders/${several.id}`)
    assert.deepEqual([geometry.type, geometry.geometries.length], ['GeometryCollection', 2])
    const paged = await ok(`/stapi/orders/${several.id}/statuses?limit=1`)
    assert.equal(paged.statuses.length, 1)
  })

  await testRefusals(t, w, org, { get, post })
})

async function testRefusals(t: TestContext, w: World, org: Org, { get, post }: Pick<ReturnType<typeof clientOf>, 'get' | 'post'>) {
  const path = `/stapi/products/${PRODUCT}/orders`
  const count = async () => (await w.ok(org.owner.token, 'orders.list', { type: 'TASKING' })).totalElements

  await t.test('a repeated request with the same key is one order; with another body it is a conflict', async () => {
    const before = await count()
    const key = { 'idempotency-key': newId() }
    const body = orderBody(org, { datetime: '../2030-01-20T00:00:00Z' })
    const first = await post(path, body, key)
    w.clock.advance({ seconds: 90 })
    const again = await post(path, body, key)
    assert.deepEqual([first.status, again.status, again.body.id], [201, 201, first.body.id])
    assert.equal((await post(path, orderBody(org), key)).status, 409)
    assert.equal(await count(), before + 1)
  })

  await t.test('invalid orders name the field that was sent, and place nothing', async () => {
    const before = await count()
    const parameters = (more: object) => ({ order_parameters: { project_id: org.projectId, ...more } })
    const wrong: [object, string][] = [
      [{ order_parameters: {} }, 'order_parameters.project_id'],
      [{ order_parameters: [] }, 'order_parameters'],
      [parameters({ colour: 'red' }), 'order_parameters.colour'],
      [parameters({ priority: 'now' }), 'order_parameters.priority'],
      [parameters({ cloudCoverage: 3 }), 'order_parameters.cloudCoverage'],
      [parameters({ max_credits: -1 }), 'order_parameters.max_credits'],
      [parameters({ display_name: ' ' }), 'order_parameters.display_name'],
      [{ datetime: '2029-01-02T00:00:00Z/2029-01-20T00:00:00Z' }, 'datetime'],
      [{ filter: { op: '<=', args: [{ property: 'eo:cloud_cover' }, 101] } }, 'filter.eo:cloud_cover'],
      [{ geometry: { ...AREA, coordinates: [] } }, 'geometry'],
      [{ limit: 3 }, 'limit'],
    ]
    for (const [change, field] of wrong) {
      const { status, body } = await post(path, orderBody(org, change))
      assert.deepEqual([status, body.errors?.[0].field.split('.').slice(0, 2).join('.')], [422, field], JSON.stringify([change, body]))
    }
    assert.equal((await post(path, orderBody(org, parameters({ max_credits: 1 })))).status, 400)
    assert.equal((await post(path, orderBody(org, { geometry: square(2.3, 48.2, 1) }))).status, 422, 'too large')
    assert.equal((await post('/stapi/products/nothing/orders', orderBody(org))).status, 404)
    const headers = { authorization: `Bearer ${org.owner.token}`, 'content-type': 'application/json' }
    const raw = (body: string, type = 'application/json') =>
      w.request('POST', path, { headers: { ...headers, 'content-type': type }, body })
    assert.equal((await raw('{')).status, 400)
    assert.equal((await raw('{}', 'text/plain')).status, 415)
    assert.equal((await raw(JSON.stringify({ filter: 'x'.repeat(300_000) }))).status, 413)
    assert.equal(await count(), before)
  })

  await t.test('others see and place nothing; a key needs the scopes of the operations', async () => {
    const [{ id }] = (await get('/stapi/orders')).body.features
    const stranger = await w.organization()
    const theirs = clientOf(w, stranger.owner.token)
    for (const suffix of ['', '/statuses']) assert.equal((await theirs.get(`/stapi/orders/${id}${suffix}`)).status, 404)
    assert.deepEqual((await theirs.get('/stapi/orders')).body.features, [])
    assert.equal((await theirs.post(path, orderBody(org))).status, 404, 'a foreign project')
    const viewer = clientOf(w, (await w.member(org, 'viewer')).token)
    assert.equal((await viewer.get(`/stapi/orders/${id}`)).status, 200)
    assert.equal((await viewer.post(path, orderBody(org))).status, 403)
    for (const unknown of ['x', newId(), '%00', 'a'.repeat(300)]) assert.equal((await get(`/stapi/orders/${unknown}`)).status, 404, unknown)
    const archive = (await w.ok(org.owner.token, 'orders.list', { type: 'ARCHIVE' })).content[0].id
    assert.equal((await get(`/stapi/orders/${archive}`)).status, 404, 'an archive order')
    const { key } = await w.ok(org.owner.token, 'api_keys.create', { name: 'reader', permissions: ['read'] })
    const byKey = (method: string, url: string, body?: object) =>
      w.request(method, url, {
        headers: { 'x-api-key': key, ...(body ? { 'content-type': 'application/json' } : {}) },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
    assert.equal((await byKey('GET', '/stapi/orders')).status, 200)
    assert.equal((await byKey('POST', path, orderBody(org))).status, 403)
    assert.equal((await w.post(`${path}?key=${key}`, orderBody(org))).status, 401, 'keys in URLs only read')
  })
}
