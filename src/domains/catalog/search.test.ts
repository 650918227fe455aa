// Goal: a search returns scenes with the organization's prices; filters are exact; a cursor is valid for its own search only; and a
// vendor that fails, hangs or sends invalid data is a 502 or 504 that names it, or an error of one source in a merged search.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { readRegistry } from '#adapters/vendors/registry.ts'
import { world } from '../../../test/support/world.ts'

const BOX = [2.28, 48.18, 2.32, 48.22]
const JUNE = '2025-06-01/2025-06-30'
/** The simulated host hangs for longer, so that what is answered before was cut off. */
const HANGS_MS = 100_000
const POLYGON = {
  type: 'Polygon',
  coordinates: [
    [
      [2.28, 48.18],
      [2.32, 48.18],
      [2.32, 48.22],
      [2.28, 48.18],
    ],
  ],
}

interface FoundScene {
  id: string
  properties: Record<string, never>
  geometry: object
}

test('catalog searches', async (t) => {
  const w = await world(t, { vendors: true })
  const org = await w.organization()
  const { token } = org.owner
  const search = (input: object) => w.call(token, 'catalog.search', input)
  const searchFor = async (input: object): Promise<FoundScene[]> => (await w.ok(token, 'catalog.search', input)).features
  const nextOf = ({ links }: { links: { rel: string; href: string }[] }) => links.find(({ rel }) => rel === 'next')?.href ?? null

  await t.test('scenes for sale have prices; open scenes have files and no prices', async () => {
    const [sold] = await searchFor({ host_name: 'sandbox-vhr', bbox: BOX, datetime: JUNE, limit: 1 })
    assert.equal(sold!.properties['creditsPerSqKm'], 1_680)
    assert.equal(sold!.properties['pricePerSqKm'], 16.8)
    assert.equal(sold!.properties['pricingResolution'], 'VHR 0.5 m')
    assert.equal(sold!.properties['simulated'], true)
    assert.deepEqual((sold as unknown as { assets: object }).assets, {})
    const [open] = await searchFor({ host_name: 'sandbox-open', bbox: BOX, datetime: JUNE, limit: 1 })
    assert.equal('pricePerSqKm' in open!.properties, false)
    assert.match((open as unknown as { assets: { data: { href: string } } }).assets.data.href, /\.tif$/)
    const single = await w.ok(token, 'catalog.item.get', { host_name: 'sandbox-vhr', id: sold!.id })
    assert.deepEqual(single, sold)
    assert.equal((await w.call(token, 'catalog.item.get', { host_name: 'sandbox-vhr', id: 'nothing' })).status, 404)
  })

  await t.test('contracted rates replace list prices, only for their organization', async () => {
    const staff = await w.serviceToken(org.id)
    await w.ok(staff, 'organizations.commitments.put', {
      organization_id: org.id,
      name: 'Year',
      products: ['sandbox-vhr-archive'],
      period_start: w.clock.now().toISOString().slice(0, 10),
      period_end: '2099-01-01',
      minimum_aud: 1_000,
      rates: [{ product: 'sandbox-vhr-archive', credits_per_km2: 900, discount_percent: null }],
    })
    const input = { host_name: 'sandbox-vhr', bbox: BOX, datetime: JUNE, limit: 1 }
    assert.equal((await searchFor(input))[0]!.properties['creditsPerSqKm'], 900)
    const other = await w.organization()
    assert.equal((await w.ok(other.owner.token, 'catalog.search', input)).features[0].properties.creditsPerSqKm, 1_680)
  })

  await t.test('filters', async () => {
    const all = await searchFor({ host_name: 'sandbox-hr', bbox: BOX, datetime: JUNE })
    assert.ok(all.length >= 30)
    const clear = await searchFor({ host_name: 'sandbox-hr', bbox: BOX, datetime: JUNE, query: { cloudCoverage: { LT: 5 } } })
    assert.deepEqual(
      clear.map(({ id }) => id),
      all.filter(({ properties }) => Number(properties['eo:cloud_cover']) < 5).map(({ id }) => id),
    )
    assert.ok(clear.length > 3 && clear.length < all.length)
    const day = await searchFor({ host_name: 'sandbox-hr', intersects: POLYGON, datetime: '2025-06-12' })
    assert.ok(day.length > 0 && day.every(({ properties }) => String(properties['datetime']).startsWith('2025-06-12')))
    const ids = [all[3]!.id, all[1]!.id]
    assert.deepEqual((await searchFor({ host_name: 'sandbox-hr', ids })).map(({ id }) => id).toSorted(), ids.toSorted())
    assert.deepEqual(await searchFor({ host_name: 'sandbox-hr', collections: ['nothing'], bbox: BOX }), [])
  })

  await t.test('invalid searches are rejected with what to change', async () => {
    const host_name = 'sandbox-hr'
    const wide = { type: 'Polygon', coordinates: [[[0, 0], [4, 0], [4, 4], [0, 4], [0, 0]]] } // prettier-ignore
    const refusals: [number, object, RegExp][] = [
      [400, { host_name, bbox: BOX, intersects: POLYGON }, /not both/],
      [404, { host_name: 'nobody' }, /Known hosts: .*sandbox-hr/],
      [422, { host_name, intersects: wide }, /50,000 km²/],
      [422, { host_name, intersects: { type: 'Point', coordinates: [0, 0] } }, /Polygon/],
      [422, { host_name, bbox: [0, 0, 1] }, /bbox/],
      [422, { host_name, query: { gsd: { LT: 1 } } }, /cloudCoverage/],
      [422, { host_name, query: { cloudCoverage: { LT: 1, GT: 0 } } }, /exactly one/],
      [422, { host_name, query: { cloudCoverage: { LT: 101 } } }, /0 to 100/],
      [422, { host_name, datetime: '../..' }, /for an open end/],
      [422, { host_name, limit: 501 }, /limit/],
      [422, { host_name, next: 'x.y' }, /cursor/],
    ]
    for (const [status, input, pattern] of refusals) {
      const response = await search(input)
      assert.equal(response.status, status, JSON.stringify(input))
      assert.match(response.body.detail, pattern)
    }
  })

  await t.test('paging: following the links returns every scene, and a cursor is valid for its own search only', async () => {
    const input = { host_name: 'sandbox-hr', bbox: BOX, datetime: JUNE, limit: 20 }
    const whole = (await searchFor({ ...input, limit: 500 })).map(({ id }) => id)
    const paged: string[] = []
    let next: string | null = null
    for (let pages = 0; pages < 10; pages++) {
      const { body } = await search(next === null ? input : { ...input, next })
      paged.push(...body.features.map(({ id }: FoundScene) => id))
      next = nextOf(body)
      if (next === null) break
    }
    assert.deepEqual(paged, whole)
    const first = (await search(input)).body
    const cursor = new URL(nextOf(first)!).searchParams.get('next')!
    assert.equal((await search({ ...input, next: cursor, limit: 5 })).status, 200)
    for (const tampered of [
      { ...input, next: cursor, bbox: [2.28, 48.18, 2.33, 48.22] },
      { ...input, next: cursor, host_name: 'sandbox-vhr' },
      { ...input, next: `${cursor.slice(0, -2)}AA` },
      { ...input, next: `A${cursor}` },
    ])
      assert.equal((await search(tampered)).status, 422)
    w.clock.advance({ minutes: 61 })
    const { token: later } = await w.signIn(org.owner, org.id)
    const late = await w.call(later, 'catalog.search', { ...input, next: cursor })
    assert.equal(late.status, 422)
    assert.match(late.body.detail, /expired after an hour/)
  })
})

/** The simulated vendors behind a server that answers no question about prices. */
async function startPriceless(t: TestContext) {
  let target = ''
  const server = createServer((request, response) => {
    void (async () => {
      if (request.url!.endsWith('/prices')) return void response.writeHead(503).end('{}')
      const body = request.method === 'GET' ? null : await buffer(request)
      const { authorization = '' } = request.headers
      const headers = { authorization, ...(body ? { 'content-type': 'application/json' } : {}) }
      const answer = await fetch(target + request.url, { method: request.method!, headers, body })
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
      return void response.end(Buffer.from(await answer.arrayBuffer()))
    })()
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const sources = async (sandboxUrl: string) => {
    target = sandboxUrl
    return await readRegistry(null, { sandboxUrl: `http://${address}`, isOffline: true })
  }
  return { address, sources }
}

test('vendors that fail', async (t) => {
  const w = await world(t, { vendors: true })
  const { owner } = await w.organization()
  const call = (id: string, input: object) => w.call(owner.token, id, input)

  await t.test('a vendor that fails or sends invalid data is a 502 that names it, also for a stream', async () => {
    for (const fault of ['fail-502', 'lies'])
      for (const id of ['catalog.search', 'catalog.search_stream']) {
        const { status, body } = await call(id, { host_name: 'sandbox-flaky', ids: [fault] })
        assert.equal(status, 502)
        assert.equal(body.host_name, 'sandbox-flaky')
      }
    const offline = await world(t) // The registry is there, and nobody answers.
    const { owner: other } = await offline.organization()
    assert.equal((await offline.call(other.token, 'catalog.search', { host_name: 'sandbox-hr' })).status, 502)
    const merged = await offline.call(other.token, 'catalog.federated_search', { bbox: BOX })
    assert.deepEqual([merged.status, merged.body.code], [502, 'bad-gateway'], 'every source failed')
    assert.match(merged.body.detail, /^No source could be searched: .*sandbox-hr could not be reached/)
    assert.ok(merged.body.sources.every(({ error }: { error: string | null }) => error !== null))
  })

  await t.test('a vendor that states no prices now still shows its scenes, which are not free', async () => {
    const host = await startPriceless(t)
    const other = await world(t, { vendors: true, sources: host.sources, egressAllow: [host.address] })
    const { token } = (await other.organization()).owner
    const { features } = await other.ok(token, 'catalog.search', { host_name: 'sandbox-vhr', bbox: BOX, datetime: JUNE, limit: 2 })
    assert.equal(features.length, 2)
    for (const { properties } of features) {
      assert.ok(properties.dataProduct)
      assert.deepEqual([properties.priceError, properties.creditsPerSqKm], ['sandbox-vhr answered 503', undefined])
    }
  })

  await t.test('a merged search isolates sources that fail, hang or send invalid data, within its deadline', async () => {
    for (const fault of ['fail-502', 'lies', 'timeout']) {
      const startedMs = performance.now()
      const { status, body } = await call('catalog.federated_search', {
        ids: [fault, 'x'],
        source_ids: ['sandbox-flaky', 'sandbox-hr', 'sandbox-open'],
      })
      assert.equal(status, 200)
      const reports = new Map(body.sources.map((source: { source_id: string; error: string | null }) => [source.source_id, source.error]))
      assert.match(String(reports.get('sandbox-flaky')), /sandbox-flaky/)
      assert.equal(reports.get('sandbox-hr'), null)
      const alone = await call('catalog.federated_search', { ids: [fault, 'x'], source_ids: ['sandbox-flaky'] })
      assert.equal(alone.status, 502, fault)
      assert.ok(performance.now() - startedMs < HANGS_MS)
    }
  })

  await t.test('merged: most recent first, with their source, without prices, limited', async () => {
    const input = { bbox: BOX, datetime: '2025-06-10/2025-06-12', data_types: ['raster'], limit: 9 }
    const { features, sources, numberReturned } = (await call('catalog.federated_search', input)).body
    assert.equal(features.length, 9)
    assert.equal(numberReturned, 9)
    const days = features.map(({ properties }: FoundScene) => String(properties['datetime']))
    assert.deepEqual(days, days.toSorted().reverse())
    assert.ok(new Set(features.map(({ properties }: FoundScene) => properties['sourceId'])).size > 2)
    for (const { properties } of features) {
      assert.ok(properties.sourceTitle && properties.collectionId && properties.accessModel && properties.renderStrategy)
      assert.equal(properties.dataType, 'raster')
      assert.equal('pricePerSqKm' in properties, false)
    }
    assert.ok(sources.every(({ source_id }: { source_id: string }) => source_id !== 'sandbox-dem'))
    const dem = (await call('catalog.federated_search', { bbox: BOX, data_types: ['dem'] })).body
    assert.deepEqual(
      dem.sources.map(({ source_id }: { source_id: string }) => source_id),
      ['sandbox-dem'],
    )
    assert.ok(dem.features.length > 0)
    const unknown = await call('catalog.federated_search', { source_ids: ['nobody'] })
    assert.equal(unknown.status, 404)
    assert.match(unknown.body.detail, /sandbox-hr/)
    assert.equal((await call('catalog.federated_search', { data_types: ['smell'] })).status, 422)
  })

  await t.test('counts by day, source and cloud cover match the scenes', async () => {
    const filters = { bbox: BOX, datetime: JUNE, source_ids: ['sandbox-hr', 'sandbox-open'] }
    const counted = (await call('catalog.aggregate', { ...filters, by: ['source'] })).body
    assert.equal(counted.complete, true)
    for (const { source_id, count } of counted.buckets) {
      const { features } = (await call('catalog.search', { host_name: source_id, bbox: BOX, datetime: JUNE, limit: 500 })).body
      assert.equal(count, features.length)
    }
    const byDay = (await call('catalog.aggregate', { ...filters, by: ['day', 'cloud'] })).body
    assert.equal(byDay.total, counted.total)
    assert.equal(new Set(byDay.buckets.map(({ day }: { day: string }) => day)).size, 30)
  })

  await t.test('only the requested days are counted, also for scenes acquired over months', async () => {
    for (const [datetime, days] of [
      ['2026-06-05', ['2026-06-05']],
      ['2026-06-05/2026-06-07', ['2026-06-05', '2026-06-06', '2026-06-07']],
      ['2026-06-05T12:00:00Z/2026-06-06T12:00:00Z', ['2026-06-05', '2026-06-06']],
    ] as const) {
      const { body } = await call('catalog.aggregate', { bbox: BOX, datetime, source_ids: ['sandbox-dem', 'sandbox-hr'] })
      assert.deepEqual(
        body.buckets.map(({ day }: { day: string }) => day),
        days,
      )
      const perSource = body.sources.reduce((sum: number, { count }: { count: number }) => sum + count, 0)
      assert.deepEqual([body.total, body.sources[1].count > 0], [perSource, true])
    }
  })

  await t.test('a stream returns the same scenes, one per line, with a summary; disconnecting ends it', async () => {
    const input = { host_name: 'sandbox-hr', bbox: BOX, datetime: '2025-06-01/2026-06-30' }
    const lines = async (limit: number, more: object = {}) =>
      (await call('catalog.search_stream', { ...input, limit, ...more })).bytes
        .toString()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    const all = await lines(250)
    const summary = all.pop()
    assert.deepEqual([summary.type, summary.numberReturned], ['Summary', 250])
    const page = (await call('catalog.search', { ...input, limit: 250 })).body.features
    assert.deepEqual(all, page)
    const more = await lines(3, { next: summary.next })
    assert.equal(more.length, 4)
    assert.ok(!all.some(({ id }: FoundScene) => id === more[0].id))
    const leaving = new AbortController()
    const response = await fetch(`${w.baseUrl}/v1/op/catalog.search_stream`, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...input, limit: 10_000 }),
      signal: leaving.signal,
    })
    const reader = response.body!.getReader()
    await reader.read()
    leaving.abort()
    await assert.rejects(async () => {
      for (let reads = 0; reads < 10_000; reads++) if ((await reader.read()).done) return
    })
  })
})
