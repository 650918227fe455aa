/** Run: PEER_PYTHON=venv/bin/python npm test -- test/peers/open-items.ts. The interpreter needs rasterio and numpy. */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parseRegistry } from '#adapters/vendors/registry.ts'
import run from '../../src/domains/processing/run.task.ts'
import { startOpenHosts } from '../../sandbox/vendors/open-hosts/server.ts'
import { world } from '../support/world.ts'

const PYTHON = process.env['PEER_PYTHON'] ?? 'python3'
const SCRIPT = fileURLToPath(new URL('open-items.py', import.meta.url))
const hasPeer = spawnSync(PYTHON, ['-c', 'import rasterio, numpy']).status === 0

/** Sentinel-2 pixels at Earth Search have the offset already; Landsat states its scale; NAIP and the elevation model are one file. */
const SENTINEL = { scale: 0.0001, offset: 0 }
const LANDSAT = { scale: 2.75e-5, offset: -0.2 }
const PLAIN = { scale: 1, offset: 0 }
const EUROPE = [2.3, 48.2] as const
const CALIFORNIA = [-120.5, 37.3] as const

interface Case {
  name: string
  host: string
  collection: string
  at: readonly [longitude: number, latitude: number]
  /** Half a side of the measured square, in degrees. */
  half: number
  expression: string
  /** By name in the expression: its asset, its band there, and how the stored samples become values. */
  bands: Record<string, { asset: string; band?: number; scale: number; offset: number }>
}

const CASES: readonly Case[] = [
  {
    name: 'Sentinel-2 Level-2A: NDVI of two files',
    host: 'earth-search',
    collection: 'sentinel-2-l2a',
    at: EUROPE,
    half: 0.02,
    expression: '(nir-red)/(nir+red)',
    bands: { nir: { asset: 'nir', ...SENTINEL }, red: { asset: 'red', ...SENTINEL } },
  },
  {
    name: 'Sentinel-2 Level-2A: 10, 20 and 60 m',
    host: 'earth-search',
    collection: 'sentinel-2-l2a',
    at: EUROPE,
    half: 0.02,
    expression: '(swir16+coastal)/(red+0.5)',
    bands: {
      swir16: { asset: 'swir16', ...SENTINEL },
      coastal: { asset: 'coastal', ...SENTINEL },
      red: { asset: 'red', ...SENTINEL },
    },
  },
  {
    name: 'Sentinel-2 of the Planetary Computer: an offset that nothing states',
    host: 'planetary-computer',
    collection: 'sentinel-2-l2a',
    at: EUROPE,
    half: 0.02,
    expression: '(B08-B04)/(B08+B04)',
    bands: { B08: { asset: 'B08', scale: 0.0001, offset: -0.1 }, B04: { asset: 'B04', scale: 0.0001, offset: -0.1 } },
  },
  {
    name: 'Landsat Collection 2 Level-2: NDVI of two files',
    host: 'planetary-computer',
    collection: 'landsat-c2-l2',
    at: EUROPE,
    half: 0.05,
    expression: '(nir08-red)/(nir08+red)',
    bands: { nir08: { asset: 'nir08', ...LANDSAT }, red: { asset: 'red', ...LANDSAT } },
  },
  {
    name: 'NAIP: one file with four bands',
    host: 'planetary-computer',
    collection: 'naip',
    at: CALIFORNIA,
    half: 0.001,
    expression: '(NIR-Red)/(NIR+Red)',
    bands: { NIR: { asset: 'image', band: 4, ...PLAIN }, Red: { asset: 'image', band: 1, ...PLAIN } },
  },
  {
    name: 'Copernicus DEM: heights in one file',
    host: 'planetary-computer',
    collection: 'cop-dem-glo-30',
    at: EUROPE,
    half: 0.03,
    expression: 'b1*3.28084',
    bands: { b1: { asset: 'data', ...PLAIN } },
  },
]

async function openWorld(t: TestContext) {
  let now = () => new Date('2030-01-01T00:00:00Z')
  const workDir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-open-items-'))
  const hosts = await startOpenHosts({ clock: { now: () => now() }, workDir })
  t.after(async () => {
    await hosts.close()
    rmSync(workDir, { recursive: true, force: true })
  })
  const sources = parseRegistry(await hosts.registryFile(), 'the registry of this test', { sandboxUrl: null })
  const w = await world(t, { sources, egressAllow: [new URL(hosts.url).host] })
  now = w.clock.now
  return { w, workDir }
}

const squareAround = ([x, y]: readonly [number, number], half: number) => {
  const [west, south, east, north] = [x - half, y - half, x + half, y + half]
  return {
    type: 'Polygon',
    coordinates: [
      [
        [west, south],
        [east, south],
        [east, north],
        [west, north],
        [west, south],
      ],
    ],
  }
}

// Goal: items as the open hosts write them, saved by reference and computed with, have the values that rasterio and numpy compute from
// the same files with the scale and offset of each mission.
test('items of open hosts beside rasterio and numpy', { skip: hasPeer ? false : 'PEER_PYTHON has no rasterio and numpy' }, async (t) => {
  const { w, workDir } = await openWorld(t)
  const org = await w.organization()
  const { token } = org.owner
  await w.ok(await w.serviceToken(), 'billing.credits.grant', { organization_id: org.id, credits: 100_000, reason: 'for a test' })

  for (const { name, host, collection, at, half, expression, bands } of CASES)
    await t.test(name, async (t) => {
      const [x, y] = at
      const search = { host_name: host, bbox: [x, y, x, y], collections: [collection], datetime: '2029-05-01/2029-07-30', limit: 1 }
      const [scene] = (await w.ok(token, 'catalog.search', search)).features
      assert.ok(scene, 'the host has a scene here')
      const { item } = await w.ok(token, 'catalog.scene.save', { host_name: host, id: scene.id, project_id: org.projectId })
      const input_params = { item_id: item.id, expression, geometry: squareAround(at, half) }
      const { job } = await w.ok(token, 'processing.create_and_dispatch', {
        project_id: org.projectId,
        job_type_id: 'band_math',
        input_params,
      })
      await w.drain(run)
      const done = (await w.ok(token, 'processing.job.get', { job_id: job.id })).job
      assert.equal(done.status, 'completed', JSON.stringify(done))
      const [item_id] = done.output_item_ids
      const [{ id: asset_id }] = await w.ok(token, 'items.list_assets', { item_id })
      const { url: download_url } = await w.ok(token, 'items.asset.download', { item_id, asset_id })
      const result = path.join(workDir, 'result.tif')
      writeFileSync(result, Buffer.from(await (await fetch(download_url)).arrayBuffer()))
      const { files } = w.platform.services.vendors
      const used = await Promise.all(
        Object.entries(bands).map(async ([key, { asset, band = 1, scale, offset }]) => {
          const { href } = scene.assets[asset]
          const url = host === 'planetary-computer' ? (await files.sign(href, null)).url : href
          return [key, { url, band, scale, offset }]
        }),
      )
      const request = path.join(workDir, 'request.json')
      writeFileSync(request, JSON.stringify({ result, expression, bands: Object.fromEntries(used) }))
      // Not synchronously: the hosts are in this process.
      const { stdout } = await promisify(execFile)(PYTHON, [SCRIPT, request])
      const { pixels, compared, worstUlps } = JSON.parse(stdout) as { pixels: number; compared: number; worstUlps: number }
      t.diagnostic(`${compared} of ${pixels} pixels, at most ${worstUlps} units in the last place of a 32-bit float`)
      assert.ok(compared > pixels / 2 && compared > 5_000, `${compared} of ${pixels} pixels have values`)
      assert.ok(worstUlps <= 1, `${worstUlps} units in the last place`)
    })
})
