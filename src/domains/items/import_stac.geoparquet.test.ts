// Goal: a STAC-GeoParquet file becomes the items it was made from; one that is damaged or claims a wrong size becomes none.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { stacLines } from '#adapters/raster/stac-table.ts'
import { openTable, type TableRow } from '#wire/stac-parquet.ts'
import { world } from '../../../test/support/world.ts'

const positionOf = (longitude: number, latitude: number) => [longitude, latitude]

const feature = (id: string, properties: object): TableRow => ({
  stac_version: '1.0.0',
  stac_extensions: [],
  id,
  geometry: { type: 'LineString', coordinates: [positionOf(10, 50), positionOf(11, 51)] },
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

/** What JSON can say, in the shapes that properties have: scalars, lists, and objects that are not empty. */
const anything = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.string(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.stringMatching(/^[a-z:]{1,8}$/), tie('value'), { minKeys: 1, maxKeys: 3 }),
  ),
})).value
const NAMES = ['proj:shape', 'proj:epsg', 'eo:bands', 'note', 'gsd_m', 'created_by'] as const
const record = fc.dictionary(fc.constantFrom(...NAMES), anything, { maxKeys: 4 })

// Goal: whatever the first page contains, nothing is lost: values that do not fit the columns are stored separately.
test('a table of several pages holds every property and asset', async () => {
  const page = fc.array(fc.tuple(record, fc.dictionary(fc.constantFrom('data', 'thumbnail', 'mask'), record, { maxKeys: 2 })), {
    maxLength: 4,
  })
  await fc.assert(
    fc.asyncProperty(page, page, async (first, later) => {
      const rows = [...first, ...later].map(([properties, assets], n) => ({
        ...feature(`s${n}`, properties),
        assets: Object.fromEntries(Object.entries(assets).map(([key, asset]) => [key, { href: `https://data.example/${n}`, ...asset }])),
      }))
      const table = openTable(rows.slice(0, first.length), true)
      const parts = [rows.slice(0, first.length), rows.slice(first.length)].filter((part) => part.length > 0)
      const bytes = Buffer.concat([...parts.map((part) => table.rows(part)), table.end()])
      const lines = await stacLines(bytes, 100, new AbortController().signal)
      const read = lines.map((line) => JSON.parse(line) as TableRow)
      assert.deepEqual(
        read.map(({ properties, assets }) => ({ properties, assets })),
        rows.map(({ properties, assets }) => JSON.parse(JSON.stringify({ properties, assets })) as object),
      )
    }),
    { numRuns: 200 },
  )
})

test('items.import_stac of a table', async (t) => {
  const w = await world(t)
  const [exporter, importer] = [await w.organization(), await w.organization()]
  const load = (bytes: Uint8Array, org = exporter) =>
    w.call(org.owner.token, 'items.import_stac', { project_id: org.projectId, geoparquet: Buffer.from(bytes).toString('base64') })
  const featuresOf = async ({ owner, projectId }: typeof exporter) => {
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
    const collection = { type: 'FeatureCollection', features: features.map((feature) => ({ ...feature, type: 'Feature' })) }
    const sent = await w.ok(exporter.owner.token, 'items.import_stac', { project_id: exporter.projectId, features: collection })
    assert.deepEqual(sent, { created: 3, skipped: 0, errors: [] })
    const exported = await fetch(`${w.baseUrl}/stac/search?f=parquet`, { headers: { authorization: `Bearer ${exporter.owner.token}` } })
    const { status, body } = await load(new Uint8Array(await exported.arrayBuffer()), importer)
    assert.deepEqual([status, body], [200, { created: 3, skipped: 0, errors: [] }])
    assert.deepEqual(await featuresOf(importer), await featuresOf(exporter))
  })

  await t.test('each invalid row is reported by its number', async () => {
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

  await t.test('other tables are rejected with what is missing, and store nothing', async () => {
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
    const { status, body } = await w.call(exporter.owner.token, 'items.import_stac', { project_id: exporter.projectId, geoparquet: 'é' })
    assert.deepEqual([status, body.errors?.[0]?.field ?? body.detail], [422, 'geoparquet'])
    assert.equal(await count(), before)
  })

  await t.test('with any byte changed it is rejected or read, and breaks nothing', async () => {
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
