import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { polygons } from '../support/classes.ts'
import { dice } from '../support/geometries.ts'

const SIZE = 120

/** Random patches: noise that was looked at through a window of a few pixels, so that many touch at corners. */
function patches(seed: number, window: number): (x: number, y: number) => number {
  const next = dice(seed)
  const noise = Float64Array.from({ length: (SIZE + window) ** 2 }, next)
  return (x, y) => {
    let sum = 0
    for (let row = 0; row < window; row++)
      for (let column = 0; column < window; column++) sum += noise[(y + row) * (SIZE + window) + x + column]!
    return Math.floor((sum / window ** 2 - 0.5) * 3 * window + 2) & 3
  }
}

// Goal: polygons are valid in shapely, as many as GDAL makes, and each class covers the same area.
test('polygons of classes beside GDAL', async (t) => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'polygonize-'))
  t.after(() => rm(folder, { recursive: true }))
  const script = new URL('./polygonize.py', import.meta.url).pathname
  for (const window of [1, 2, 4])
    for (const epsg of [4326, 32_633]) {
      const transform: [number, number, number, number, number, number] =
        epsg === 4326 ? [10, 0.0625, 0, 60, 0, -0.0625] : [300_000, 10, 0, 7_000_000, 0, -10]
      await polygons(folder, { width: SIZE, height: SIZE, epsg, transform, value: patches(window, window) })
      const { stdout, stderr, status } = spawnSync(process.env['PEER_PYTHON'] ?? 'python3', [script, folder], { encoding: 'utf8' })
      assert.equal(status, 0, stderr)
      const report = JSON.parse(stdout) as { count: number; invalid: string[]; same_count: boolean; largest_difference: number }
      t.diagnostic(`EPSG ${epsg}, patches of ${window}: ${report.count} polygons, ${report.invalid.length} not valid`)
      assert.deepEqual(report.invalid, [])
      assert.ok(report.same_count)
      // Areas of a projection are in metres, ours in degrees: only degrees compare.
      if (epsg === 4326) assert.ok(report.largest_difference < 1e-9, String(report.largest_difference))
    }
})
