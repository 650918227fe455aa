import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import type { Position } from '#core/geometry.ts'
import { normalised } from '#core/validity.ts'
import { polygons } from '../../../test/support/classes.ts'
import { dice } from '../../../test/support/geometries.ts'

const planar = (ring: readonly Position[]): number =>
  ring
    .slice(1)
    .reduce(
      (sum, [x, y], i) => sum + (ring[i]![0] - ring[0]![0]) * (y - ring[0]![1]) - (x - ring[0]![0]) * (ring[i]![1] - ring[0]![1]),
      0,
    ) / 2

// Goal: every polygon is valid, whatever touches at corners, and together they cover each pixel once.
test('polygons of random classes', async (t) => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'polygonize-'))
  t.after(() => rm(folder, { recursive: true }))
  const next = dice(26)
  const isValid = (rings: Position[][]) => {
    const result = normalised([rings])
    assert.ok('polygons' in result, JSON.stringify('fault' in result && result.fault))
    assert.deepEqual(result.polygons[0], rings, 'nothing has to be put right')
  }

  await t.test('in degrees, with the area of their pixels', async () => {
    for (let round = 0; round < 40; round++) {
      const [width, height, classes] = [8 + Math.floor(next() * 24), 8 + Math.floor(next() * 24), 2 + (round % 3)]
      const values = Array.from({ length: width * height }, () => Math.floor(next() * classes))
      const result = await polygons(folder, {
        width,
        height,
        epsg: 4326,
        transform: [10, 0.125, 0, 50, 0, -0.125],
        value: (x, y) => values[y * width + x]!,
      })
      for (const rings of result) isValid(rings)
      const area = result.flat().reduce((sum, ring) => sum + planar(ring), 0)
      assert.ok(Math.abs(area / 0.125 ** 2 - values.filter((value) => value > 0).length) < 1e-6)
    }
  })

  await t.test('in a projection that curves pixel edges, and with pixels of a centimetre', async () => {
    for (const metres of [0.01, 10, 3_000]) {
      const width = metres === 3_000 ? 200 : 2_000
      // A long line on the edge of thin stripes: straight from end to end it would cut through them.
      const value = (x: number, y: number) => (y === 0 || (y === 2 && x % 3 > 0) ? 1 : (x + y) % 5 === 0 ? 0 : 2)
      const result = await polygons(folder, {
        width,
        height: 6,
        epsg: 32_633,
        transform: [300_000, metres, 0, 7_000_000, 0, -metres],
        value,
      })
      assert.ok(result.length > 10)
      for (const rings of result) isValid(rings)
    }
  })
})
