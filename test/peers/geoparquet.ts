/**
 * Goal: an exported table holds what the JSON of the same search holds, field by field and in the same types, for both
 * independent readers of STAC-GeoParquet.
 *
 * Run: PEER_PYTHON=venv/bin/python npm test -- test/peers/geoparquet.ts. The interpreter needs rustac and stac-geoparquet.
 */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { scene } from '../support/scene.ts'
import { world } from '../support/world.ts'

const python = process.env['PEER_PYTHON'] ?? ''
const hasReaders = python !== '' && spawnSync(python, ['-c', 'import rustac, stac_geoparquet']).status === 0
const skip = hasReaders ? false : 'PEER_PYTHON has neither rustac nor stac-geoparquet'
/** The service runs in this process, so nothing may block it. */
const run = promisify(execFile)

const geometry = { type: 'Point', coordinates: [10, 50] }
const datetime = '2026-01-01T00:00:00Z'
const asset = { href: 'https://data.example/a.tif', type: 'image/tiff', roles: ['data'] }
const feature = (id: string, properties: object, assets: object = {}) => ({
  type: 'Feature',
  stac_version: '1.0.0',
  id,
  geometry,
  properties: { datetime, ...properties },
  assets,
})

const DESCRIBED = [
  feature('plain', {}),
  feature('nested', { 'proj:shape': [10, 20], 'proj:transform': [1.5, 0, 3, 0, -1.5, 2], deep: { a: { b: [1, 2.5] } }, day: true }),
  feature(
    'bands',
    { 'eo:cloud_cover': 3, instruments: ['msi'], providers: [{ name: 'ESA', roles: ['producer'] }] },
    {
      data: {
        ...asset,
        'eo:bands': [{ name: 'B04', common_name: 'red', center_wavelength: 0.665 }, { name: 'B08' }],
        'raster:bands': [{ data_type: 'uint16', nodata: 0, scale: 0.0001 }, { data_type: 'uint16' }],
      },
      thumbnail: { href: 'https://data.example/a.png', title: 'Thumbnail' },
    },
  ),
  feature('interval', { datetime: null, start_datetime: datetime, end_datetime: '2026-02-01T00:00:00Z' }),
]

test('rustac and stac-geoparquet read an exported table', { skip }, async (t) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-geoparquet-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const w = await world(t, { egressAllow: ['data.example'] })

  /** How many items both readers found equal. */
  async function compared(features: readonly object[], hasUpload: boolean): Promise<number> {
    const org = await w.organization()
    const headers = { authorization: `Bearer ${org.owner.token}` }
    const ndjson = features.map((each) => JSON.stringify(each)).join('\n')
    const { errors } = await w.ok(org.owner.token, 'items.import_stac', { project_id: org.projectId, ndjson })
    assert.deepEqual(errors, [])
    if (hasUpload) await w.upload(org.owner.token, org.projectId, { 'a.tif': await scene({}) })
    const files = [path.join(folder, 'items.parquet'), path.join(folder, 'items.json')] as const
    writeFileSync(files[0], (await w.request('GET', '/stac/search?f=parquet', { headers })).bytes)
    writeFileSync(files[1], JSON.stringify((await w.request('GET', '/stac/search?limit=1000', { headers })).body.features))
    const { stdout } = await run(python, [path.join(import.meta.dirname, 'geoparquet.py'), ...files])
    return Number(stdout)
  }

  await t.test('nested properties, assets of many kinds and an upload', async () => {
    assert.equal(await compared(DESCRIBED, true), DESCRIBED.length + 1)
  })
  await t.test('items without assets', async () => {
    const bare = DESCRIBED.map((each) => ({ ...each, assets: {} }))
    assert.equal(await compared(bare, false), bare.length)
  })
})
