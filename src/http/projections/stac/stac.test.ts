import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parquetReadObjects } from 'hyparquet'
import { world } from '../../../../test/support/world.ts'

interface Link {
  rel: string
  href: string
  method?: string
  body?: object
}
const linkOf = (document: { links: Link[] }, rel: string) => document.links.find((link) => link.rel === rel)

// Goal: a STAC client that knows nothing of us walks, searches and pages over plain addresses, is forgiven what STAC clients do,
// and carries its key along; behind every answer stands an operation with all its checks.
test('the STAC API', async (t) => {
  const w = await world(t, { trustedProxies: ['127.0.0.0/8'] })
  const org = await w.organization()
  const { id: collectionId } = await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name: 'Scenes' })
  const features = Array.from({ length: 25 }, (_, i) => ({
    type: 'Feature',
    id: `scene ${i}/é`,
    geometry: { type: 'Point', coordinates: [i === 0 ? 180 : -100 + i, i] },
    properties: { datetime: new Date(Date.UTC(2026, 0, 1 + i)).toISOString(), platform: i % 2 ? 'a' : 'b', 'eo:cloud_cover': i },
    assets: { data: { href: 'https://data.example/a.tif', roles: ['data'], 'raster:bands': [{ data_type: 'uint8' }], 'proj:epsg': 4326 } },
  }))
  await w.ok(org.owner.token, 'items.import_stac', {
    project_id: org.projectId,
    collection_id: collectionId,
    features: { type: 'FeatureCollection', features },
  })
  const loose = await w.ok(org.owner.token, 'items.create', {
    project_id: org.projectId,
    type: 'user_raster',
    name: 'Loose',
    stac_id: 'loose',
  })
  const { key } = await w.key(org.owner.token, ['read'])
  const headers = { authorization: `Bearer ${key}` }
  const get = (path: string, more: Record<string, string> = {}) => w.request('GET', path, { headers: { ...headers, ...more } })
  const post = (body: object) => w.post('/stac/search', body, headers)

  await t.test('landing page, conformance, collections, one item', async () => {
    const bare = await w.request('GET', '/stac')
    assert.equal(bare.status, 200)
    assert.equal(linkOf(bare.body, 'child'), undefined)
    const { body } = await get('/stac')
    assert.equal(linkOf(body, 'child')!.href, `${w.baseUrl}/stac/collections/${collectionId}`)
    assert.deepEqual((await w.request('GET', '/stac/conformance')).body.conformsTo, body.conformsTo)
    assert.equal((await get('/stac/collections')).body.collections.length, 1)
    assert.equal((await get(`/stac/collections/${collectionId}`)).body.title, 'Scenes')
    assert.equal((await get(`/stac/collections/${org.id}`)).status, 404)
    assert.equal((await get('/stac/collections/none/items')).status, 404)
    assert.equal((await w.request('GET', '/stac/search')).status, 401)
    const item = await get(`/stac/collections/${collectionId}/items/${encodeURIComponent('scene 3/é')}`)
    assert.equal(item.headers.get('content-type'), 'application/geo+json')
    assert.equal(item.body.assets.data['raster:bands'][0].data_type, 'uint8')
    assert.deepEqual(
      item.body.links.map(({ rel }: Link) => rel),
      ['self', 'root', 'parent', 'collection'],
    )
    assert.deepEqual((await get(new URL(linkOf(item.body, 'self')!.href).pathname)).body, item.body)
    assert.equal((await get(`/stac/collections/${org.id}/items/scene%203%2F%C3%A9`)).status, 404)
    assert.equal((await get('/stac/items/loose')).body.properties['svc:item_id'], loose.id)
    const schema = new URL(item.body.stac_extensions.at(-1)).pathname
    assert.equal((await w.request('GET', schema)).body.$id, `${w.baseUrl}${schema}#`)
  })

  await t.test('pages by GET and by POST visit everything once', async () => {
    const walk = async (first: Awaited<ReturnType<typeof get>>): Promise<string[]> => {
      const seen: string[] = []
      for (let [page, count] = [first, 0]; count < 30; count++) {
        assert.equal(page.status, 200, page.bytes.toString())
        assert.equal(page.body.numberMatched, 25)
        seen.push(...page.body.features.map(({ id }: { id: string }) => id))
        const next = linkOf(page.body, 'next')
        if (!next) return seen
        const { pathname, search } = new URL(next.href)
        page = next.method === 'POST' ? await post(next.body!) : await get(pathname + search)
      }
      return assert.fail('it does not end')
    }
    const ids = features.map(({ id }) => id)
    for (const sortby of ['-datetime', '+eo:cloud_cover', 'id', '-properties.platform'].slice(0, 3)) {
      const seen = await walk(await get(`/stac/search?limit=4&collections=${collectionId}&sortby=${encodeURIComponent(sortby)}`))
      assert.deepEqual([seen.length, new Set(seen)], [25, new Set(ids)], sortby)
    }
    assert.deepEqual(new Set(await walk(await post({ limit: 7, collections: [collectionId] }))), new Set(ids))
    assert.deepEqual((await walk(await get(`/stac/collections/${collectionId}/items?limit=6`))).toSorted(), ids.toSorted())
  })

  await t.test('filters in both languages, fields, queries, and every geometry', async () => {
    const count = async (path: string) => (await get(path)).body?.numberMatched
    const text = encodeURIComponent("platform = 'a' AND eo:cloud_cover < 10")
    assert.equal(await count(`/stac/search?filter=${text}`), 5)
    const json = encodeURIComponent(JSON.stringify({ op: '=', args: [{ property: 'platform' }, 'a'] }))
    assert.equal(await count(`/stac/search?filter-lang=cql2-json&filter=${json}`), 12)
    assert.equal((await post({ filter: { op: 'isNull', args: [{ property: 'nobody has this' }] } })).body.numberMatched, 26)
    assert.equal(await count(`/stac/search?query=${encodeURIComponent('{"platform":{"eq":"a"}}')}`), 12)
    const below = (await post({ query: { 'eo:cloud_cover': { lt: 10 } } })).body.numberMatched
    assert.equal((await post({ query: { 'eo:cloud_cover': { lt: '10' } } })).body.numberMatched, below, 'as pystac-client writes it')
    assert.ok(below > 0)
    const some = (await get(`/stac/search?fields=properties.platform,-links&limit=1&collections=${collectionId}`)).body.features[0]
    assert.deepEqual(Object.keys(some).toSorted(), ['collection', 'id', 'properties', 'type'])
    assert.deepEqual(Object.keys(some.properties), ['platform'])
    const point = [-99, 1]
    const ring = [
      [-99.5, 0.5],
      [-98.5, 0.5],
      [-98.5, 1.5],
      [-99.5, 1.5],
      [-99.5, 0.5],
    ]
    const shapes: object[] = [
      { type: 'Point', coordinates: point },
      { type: 'MultiPoint', coordinates: [point] },
      { type: 'LineString', coordinates: [[-99, 0.5], point] },
      { type: 'MultiLineString', coordinates: [[[-99, 0.5], point]] },
      { type: 'Polygon', coordinates: [ring] },
      { type: 'MultiPolygon', coordinates: [[ring]] },
      {
        type: 'GeometryCollection',
        geometries: [
          { type: 'Point', coordinates: [0, -80] },
          { type: 'Polygon', coordinates: [ring] },
        ],
      },
    ]
    for (const intersects of shapes) {
      const { body } = await post({ intersects })
      assert.deepEqual(
        body.features.map(({ id }: { id: string }) => id),
        ['scene 1/é'],
        JSON.stringify(intersects),
      )
    }
    assert.equal(await count('/stac/search?bbox=-99.5,0.5,-10,-98.5,1.5,10'), 1, 'six numbers')
    assert.equal(await count('/stac/search?bbox=179,-1,-179,1'), 1, 'over the date line')
    assert.equal((await get('/stac/search?limit=10000')).body.features.length, 26)
    assert.ok((await get('/stac/queryables')).body.properties.platform)
  })

  await t.test('invalid requests are 400', async () => {
    for (const query of [
      'bbox=1,2,3',
      'bbox=0,10,1,0',
      'limit=0',
      'limit=x',
      'datetime=2026-01-01',
      'filter=%28',
      'filter-lang=sql&filter=a%3D1',
      'sortby=nothing',
      'token=x',
      'f=xml',
      'intersects=x',
    ])
      assert.equal((await get(`/stac/search?${query}`)).status, 400, query)
    const { status, body } = await post({ bbox: [0, 0, 1, 1], intersects: { type: 'Point', coordinates: [0, 0] } })
    assert.deepEqual([status, body.status], [400, 400])
  })

  await t.test('a key in the URL is kept in our links, and nowhere else', async () => {
    const { body } = await w.request('GET', `/stac/search?limit=1&key=${key}`)
    const [item] = body.features
    for (const { href } of [...body.links, ...item.links] as Link[]) assert.equal(new URL(href).searchParams.get('key'), key, href)
    assert.equal(item.assets.data.href, 'https://data.example/a.tif')
    assert.ok(!(await get('/stac/search')).bytes.includes(key))
  })

  await t.test('`key=` works for POST too, and stays in the links', async () => {
    const post = (query: string) =>
      w.request('POST', `/stac/search${query}`, { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ limit: 1 }) })
    const { status, body } = await post(`?key=${key}`)
    assert.equal(status, 200)
    for (const { href } of body.links as Link[]) assert.equal(new URL(href).searchParams.get('key'), key, href)
    assert.equal((await post('')).status, 401)
    assert.equal((await w.request('POST', `/v1/op/projects.list?key=${key}`)).status, 401, 'nowhere else')
  })

  await t.test('a trusted proxy determines the base URL of links', async () => {
    const forwarded = { 'x-forwarded-host': 'maps.example', 'x-forwarded-proto': 'https' }
    assert.equal(linkOf((await get('/stac', forwarded)).body, 'self')!.href, 'https://maps.example/stac')
    assert.equal(
      linkOf((await get('/stac/search?limit=1', forwarded)).body, 'next')!.href.split('?')[0],
      'https://maps.example/stac/search',
    )
    const odd = { 'x-forwarded-host': 'evil.example/"><script>' }
    assert.equal(linkOf((await get('/stac', odd)).body, 'self')!.href, `${w.baseUrl}/stac`)
    const w2 = await world(t, { databaseUrl: w.databaseUrl })
    const answer = await w2.request('GET', '/stac', { headers: forwarded })
    assert.equal(linkOf(answer.body, 'self')!.href, `${w2.baseUrl}/stac`)
  })

  await t.test('a search is exported as NDJSON and as GeoParquet', async () => {
    const lines = await get(`/stac/search?collections=${collectionId}`, { accept: 'application/x-ndjson' })
    assert.equal(lines.headers.get('content-type'), 'application/x-ndjson')
    const rows = lines.bytes
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(
      rows.map(({ id }) => id),
      features.map(({ id }) => id).toReversed(),
    )
    const table = await get(`/stac/search?collections=${collectionId}&f=parquet`)
    assert.equal(table.headers.get('content-type'), 'application/vnd.apache.parquet')
    const bytes = table.bytes.buffer.slice(table.bytes.byteOffset, table.bytes.byteOffset + table.bytes.length) as ArrayBuffer
    const read = await parquetReadObjects({ file: bytes })
    assert.deepEqual(
      read.map((row) => row['id']),
      rows.map(({ id }) => id),
    )
    assert.equal(read[0]!['platform'], rows[0].properties.platform)
    assert.equal((read[0]!['assets'] as { data: { href: string } }).data.href, 'https://data.example/a.tif')
    assert.equal((await get('/stac/search?limit=3&f=ndjson')).bytes.toString().trim().split('\n').length, 3)
    assert.equal((await get('/stac/search?bbox=1&f=parquet')).status, 400)
  })
})
