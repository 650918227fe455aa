/**
 * Goal: clients that others wrote read us as a STAC API: pystac-client walks, searches, pages, filters and exports; every item that
 * we emit keeps the schemas it names; stac-api-validator finds no fault; GDAL reads a search as one raster.
 *
 * Run: STAC_PYTHON=venv/bin/python STAC_SCHEMAS=folder npm test -- test/stac/clients.ts. The folder holds schemas by host and path.
 */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import path from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { scene } from '../support/scene.ts'
import { world } from '../support/world.ts'

const python = process.env['STAC_PYTHON'] ?? ''
const schemas = process.env['STAC_SCHEMAS'] ?? ''
const hasClients = python !== '' && spawnSync(python, ['-c', 'import pystac_client, stac_api_validator, stac_geoparquet']).status === 0
const skipClients = hasClients && schemas ? false : 'STAC_PYTHON has no STAC clients, or STAC_SCHEMAS is not set'
const skipGdal = spawnSync('gdalinfo', ['--version']).status === 0 ? false : 'GDAL is not on this machine'
/** The service runs in this process, so nothing may block it. */
const run = promisify(execFile)
const TIMEOUT_MS = 600_000

const ring = (x: number, y: number) => [
  [x, y],
  [x + 1, y],
  [x + 1, y + 1],
  [x, y + 1],
  [x, y],
]

const feature = (index: number) => {
  const [x, y] = [-170 + ((index * 37) % 340), -60 + ((index * 17) % 120)]
  return {
    type: 'Feature',
    stac_version: '1.0.0',
    stac_extensions: ['https://stac-extensions.github.io/projection/v1.1.0/schema.json'],
    id: `scene-${index}`,
    geometry: { type: 'Polygon', coordinates: [ring(x, y)] },
    properties: {
      datetime: new Date(Date.UTC(2024, 0, 1 + index)).toISOString(),
      platform: index % 2 ? 'sentinel-2a' : 'sentinel-2b',
      'eo:cloud_cover': index % 100,
      'proj:epsg': 4326,
    },
    assets: {
      data: {
        href: `https://data.example/${index}.tif`,
        type: 'image/tiff; application=geotiff; profile=cloud-optimized',
        roles: ['data'],
        'eo:bands': [{ name: 'B04', common_name: 'red' }],
        'raster:bands': [{ data_type: 'uint16', nodata: 0 }],
      },
    },
  }
}

test('clients of STAC', async (t) => {
  const w = await world(t, { egressAllow: ['data.example'] })
  const org = await w.organization()
  const { key } = await w.key(org.owner.token, ['read'], { rate_limit: 1_000_000 })
  const open = async (name: string): Promise<string> =>
    (await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name })).id

  await t.test('GDAL reads a search as one raster', { skip: skipGdal }, async () => {
    const collection = await open('Uploads')
    const files = { 'a.tif': await scene({ west: 151 }), 'b.tif': await scene({ west: 152 }) }
    const uploaded = await w.upload(org.owner.token, org.projectId, files, { target_collection_id: collection })
    assert.equal(uploaded.status, 200, JSON.stringify(uploaded.body))
    const search = await w.request('GET', `/stac/search?collections=${collection}&key=${key}`)
    assert.equal(search.body.features.length, 2, search.bytes.toString())
    const source = `STACIT:"${w.baseUrl}/stac/search?collections=${collection}&key=${key}":asset=data`
    const { stdout } = await run('gdalinfo', ['-json', '-checksum', source], { timeout: TIMEOUT_MS })
    const info = JSON.parse(stdout)
    assert.ok(info.size[0] > 300, `${info.size}`)
    assert.equal(info.bands.length, 4)
    assert.ok(info.bands.every(({ checksum }: { checksum: number }) => checksum > 0))
  })

  await t.test('pystac-client and stac-api-validator', { skip: skipClients }, async () => {
    const collection = await open('Scenes')
    const features = Array.from({ length: 120 }, (_, index) => feature(index))
    await w.ok(org.owner.token, 'items.import_stac', {
      project_id: org.projectId,
      collection_id: collection,
      features: { type: 'FeatureCollection', features },
    })
    for (const scenes of [256, 257])
      await w.ok(org.owner.token, 'mosaic.register', {
        project_id: org.projectId,
        name: `Mosaic of ${scenes}`,
        mosaic_method: 'median',
        bbox: [170, -10, -170, 10],
        start_datetime: '2024-01-01T00:00:00Z',
        end_datetime: '2024-02-01T00:00:00Z',
        source_collections: [collection, 'sentinel-2-l2a'],
        data_asset: { href: 'https://data.example/m.tif', band_count: 3 },
        provenance_asset: { href: 'https://data.example/p.tif' },
        source_lookup: Array.from({ length: scenes }, (_, i) => ({ value: i + 1, scene_id: `S2/${i}` })),
        ...(scenes > 256 ? { source_lookup_asset: { href: 'https://data.example/l.json' } } : {}),
        source_manifest_asset: { href: 'https://data.example/s.parquet' },
      })
    const script = (name: string, ...args: string[]) =>
      run(python, [path.join(import.meta.dirname, name), ...args], { timeout: TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 })
    const { stdout } = await script('client.py', `${w.baseUrl}/stac`, key)
    assert.match(stdout, /walked, validated, searched, filtered and exported/)
    const classes = ['core', 'collections', 'features', 'item-search', 'filter', 'item-search#sort', 'item-search#fields']
    const area = JSON.stringify({
      type: 'Polygon',
      coordinates: [
        [
          [-100, -50],
          [100, -50],
          [100, 50],
          [-100, 50],
          [-100, -50],
        ],
      ],
    })
    const validated = await script(
      'validator.py',
      ...`--root-url ${w.baseUrl}/stac --auth-bearer-token ${key} --collection ${collection} --validate-pagination`.split(' '),
      ...'--fields-nested-property properties.eo:cloud_cover'.split(' '),
      '--geometry',
      area,
      ...classes.flatMap((name) => ['--conformance', name]),
    )
    assert.match(validated.stdout + validated.stderr, /Errors: none/)
  })
})
