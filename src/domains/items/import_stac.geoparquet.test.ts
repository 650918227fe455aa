// Goal: a STAC-GeoParquet file becomes the items that it was made of, and one that is broken or lies about its size becomes none.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { openTable, type TableRow } from '#wire/stac-parquet.ts'
import { world } from '../../../test/support/world.ts'

const place = (longitude: number, latitude: number) => [longitude, latitude]

const feature = (id: string, properties: object): TableRow => ({
  stac_version: '1.0.0',
  stac_extensions: [],
  id,
  geometry: { type: 'LineString', coordinates: [place(10, 50), place(11, 51)] },
  bbox: [10, 50, 11, 51],
  properties: { datetime: '2026-02-01T00:00:00.000Z', title: `Scene ${id}`, ...properties },
  assets: {
    visual: { href: `https://data.example/${id}.tif`, type: 'image/tiff', roles: ['data'], 'eo:bands': [{ name: 'red' }] },
  },
  links: [],
})

const ENDS_FIRST = { start_datetime: '2026-02-02T00:00:00Z', end_datetime: '2026-02-01T00:00:00Z' }

function tableOf(rows: readonly TableRow[]): Buffer {
  const table = openTable(rows)
  return Buffer.concat([table.rows(rows), table.end()])
}

test('items.import_stac of a table', async (t) => {
  const w = await world(t)
  const [here, there] = [await w.organization(), await w.organization()]
  const load = (bytes: Uint8Array, org = here) =>
    w.call(org.owner.token, 'items.import_stac', { project_id: org.projectId, geoparquet: Buffer.from(bytes).toString('base64') })
  const featuresOf = async ({ owner, projectId }: typeof here) => {
    const { features } = await w.ok(owner.token, 'items.search', { project_id: projectId, format: 'stac', limit: 100 })
    return features
      .map(({ id, geometry, bbox, properties, assets, stac_extensions }: TableRow) => ({
        id,
        geometry,
        bbox,
        stac_extensions,
        properties: Object.fromEntries(
          Object.entries(properties).filter(([name]) => !name.startsWith('svc:') && name !== 'created' && name !== 'updated'),
        ),
        assets: Object.fromEntries(Object.entries(assets).map(([key, { href: _href, ...rest }]) => [key, rest])),
      }))
      .toSorted((a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1))
  }

  await t.test('what one organization exports, another imports', async () => {
    const features = [
      feature('a', { platform: 's2', 'eo:cloud_cover': 3.5, gsd: 10, flags: [1, { deep: 'x' }] }),
      feature('b', { platform: 7, day: true }),
      { ...feature('c', { 'proj:centroid': { lat: 1, lon: 2 } }), geometry: null, bbox: undefined, assets: {} },
    ]
    const collection = { type: 'FeatureCollection', features: features.map((each) => ({ ...each, type: 'Feature' })) }
    const sent = await w.ok(here.owner.token, 'items.import_stac', { project_id: here.projectId, features: collection })
    assert.deepEqual(sent, { created: 3, skipped: 0, errors: [] })
    const exported = await fetch(`${w.baseUrl}/stac/search?f=parquet`, { headers: { authorization: `Bearer ${here.owner.token}` } })
    const { status, body } = await load(new Uint8Array(await exported.arrayBuffer()), there)
    assert.deepEqual([status, body], [200, { created: 3, skipped: 0, errors: [] }])
    assert.deepEqual(await featuresOf(there), await featuresOf(here))
  })

  await t.test('each row that cannot be an item is told by its number', async () => {
    const rows = [feature('d', {}), feature('e', ENDS_FIRST), feature('d', {})]
    const { body } = await load(tableOf(rows))
    assert.deepEqual(
      [body.created, body.errors.map(({ index, id }: { index: number; id: string }) => [index, id])],
      [
        1,
        [
          [1, 'e'],
          [2, 'd'],
        ],
      ],
    )
  })

  await t.test('other tables are refused with what is missing, and leave nothing', async () => {
    const count = async () => (await w.db.selectFrom('item').select('seq').execute()).length
    const before = await count()
    const other = new Uint8Array(parquetWriteBuffer({ columnData: [{ name: 'id', data: ['a'], type: 'STRING' }] }))
    const refusals = {
      'no geometry': other,
      'no table': Buffer.from('not a table at all'),
      'cut short': tableOf([feature('f', {})]).subarray(0, -20),
      packed: gzipSync(tableOf([feature('f', {})])),
      'packed otherwise': zstdCompressSync(tableOf([feature('f', {})])),
    }
    for (const [name, bytes] of Object.entries(refusals)) {
      const { status, body } = await load(bytes)
      assert.ok(status === 400 || status === 422, `${name}: ${status} ${JSON.stringify(body)}`)
      assert.match(body.detail, /table|column/, name)
    }
    const { status, body } = await w.call(here.owner.token, 'items.import_stac', { project_id: here.projectId, geoparquet: 'é' })
    assert.deepEqual([status, body.errors?.[0]?.field ?? body.detail], [422, 'geoparquet'])
    assert.equal(await count(), before)
  })

  await t.test('with a byte changed anywhere it is refused or read, and never breaks anything', async () => {
    const whole = tableOf(Array.from({ length: 5 }, (_, n) => feature(`g${n}`, { n, note: 'x'.repeat(n) })))
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const bytes = Buffer.from(whole)
        bytes[at]! ^= change
        const { status } = await load(bytes)
        assert.ok([200, 400, 413, 422].includes(status), `byte ${at} by ${change}: ${status}`)
      }),
      { numRuns: 40 },
    )
  })
})
