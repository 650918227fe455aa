/**
 * A time series of 200 scenes and one parcel through the whole service: what the raster children spend, and what HTTP and SQL do.
 *
 * Scenes are those of `bench/zonal.ts` (BENCH_FOLDER), which writes them and asks rasterio and exactextract the same; `npm run bench --
 * zonal` first, then `npm run bench -- series`. The first answer opens every file; later ones find headers in the children.
 */
import { readFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { ownCpuMs, treeCpuMs } from './lib/cpu.ts'
import { createOwner, ok } from '../test/support/client.ts'
import { openLab } from '../test/support/service.ts'
import { FIELD } from './lib/parcel.ts'

const FOLDER = process.env['BENCH_FOLDER'] ?? path.join(os.tmpdir(), 'groundtrack-bench-zonal')
const FILES = 20
const SCENES = 200
const ROUNDS = 3
const lab = openLab()
try {
  const { baseUrl, pid } = await lab.start({
    env: { DATA_DIR: path.join(lab.dataDir(), 'service'), DEMO: '0', SANDBOX: '0', LOG_LEVEL: 'error' },
  })
  const { token } = await createOwner(baseUrl, 'owner@example.com')
  const { id: project_id } = await ok(baseUrl, token, 'projects.create', { name: 'Series' })
  const files = Array.from({ length: FILES }, (_, index) => readFileSync(path.join(FOLDER, `platform-${index}.tif`)))
  const { key } = await ok(baseUrl, token, 'api_keys.create', {
    name: 'series',
    permissions: ['read', 'write', 'process'],
    rate_limit: 1_000_000,
  })
  const itemIds: string[] = []
  for (let start = 0; start < SCENES; start += FILES) {
    const total_bytes = files.reduce((sum, { byteLength }) => sum + byteLength, 0)
    const { id: upload_id } = await ok(baseUrl, key, 'uploads.initiate', { project_id, file_count: FILES, total_bytes })
    for (const [index, body] of files.entries()) {
      const named = { upload_id, file_name: `scene-${start + index}.tif`, content_type: 'image/tiff' }
      const { upload_url } = await ok(baseUrl, key, 'uploads.signed_url', named)
      const put = await fetch(upload_url, { method: 'PUT', headers: { 'content-type': 'image/tiff' }, body })
      if (!put.ok) throw new Error(`the store answered ${put.status}: ${await put.text()}`)
    }
    itemIds.push(...(await ok(baseUrl, key, 'uploads.complete', { upload_id })).item_ids)
  }
  const params = { item_ids: itemIds, geometry: FIELD, expression: '(b2 - b1) / (b2 + b1)', statistics: ['mean'] }
  for (let round = 1; round <= ROUNDS; round++) {
    const [began, own, tree] = [performance.now(), ownCpuMs(pid), treeCpuMs(pid)]
    const { result } = await ok(baseUrl, key, 'analytics.execute', { operation: 'time_series', params })
    const [ms, ownMs, treeMs] = [performance.now() - began, ownCpuMs(pid) - own, treeCpuMs(pid) - tree]
    console.log(
      `round ${round}: ${result.points.length} points, ${result.skipped.length} skipped; ${ms.toFixed(0)} ms; CPU: ` +
        `HTTP and SQL of the service ${ownMs} ms, raster children and database ${treeMs - ownMs} ms`,
    )
  }
} finally {
  await lab.close()
}
