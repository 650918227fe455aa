// Goal: the archive covers every place on every day, always with the same scenes, and each can be fetched by its id.
import assert from 'node:assert/strict'
import test from 'node:test'
import { acquisitionOf, scenesFor, SENSOR_IDS, type SceneDescription } from './index.ts'
import { polygonsOf } from './footprint.ts'
import { sunAt } from './sun.ts'

const PLACES = [
  [2.35, 48.85],
  [-122.4, 37.8],
  [151.2, -33.9],
  [179.99, -16.5],
  [-179.99, 52],
  [0, 0],
  [25.5, 69.9],
] as const
const DAYS = ['2021-12-03', '2023-03-21', '2024-02-29', '2026-06-30']

function covers(scene: SceneDescription, x: number, y: number): boolean {
  return polygonsOf(scene.footprint).some(([ring = []]) => {
    let inside = false
    for (let i = 0, j = ring.length - 1; i < ring.length; j = i++) {
      const [ax, ay] = ring[i]!
      const [bx, by] = ring[j]!
      if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside
    }
    return inside
  })
}

test('every sensor covers every place on every day with daylight', () => {
  for (const sensor of SENSOR_IDS)
    for (const [x, y] of PLACES)
      for (const day of DAYS) {
        const scenes = scenesFor({ sensor, bbox: [x, y, x, y], from: `${day}T00:00:00Z`, to: `${day}T23:59:59Z`, limit: 10 })
        const isDark = sensor !== 'sandbox-dem' && sunAt(x, y, Date.parse(`${day}T00:00:00Z`) + (12 - x / 15) * 3_600_000).elevationDeg < 8
        if (isDark) continue
        assert.ok(
          scenes.some((scene) => covers(scene, x, y)),
          `${sensor} at ${x}, ${y} on ${day}`,
        )
      }
})

test('scenes are listed newest first, in pages, and by id', () => {
  const query = { sensor: 'sandbox-open', bbox: [8, 45, 10.5, 47.4], from: '2025-05-01T00:00:00Z', to: '2025-05-06T00:00:00Z' } as const
  const all = scenesFor({ ...query, limit: 500 })
  assert.ok(all.length > 42)
  assert.deepEqual(scenesFor({ ...query, limit: 500 }), all)
  assert.equal(new Set(all.map(({ id }) => id)).size, all.length)
  const days = all.map(({ datetime }) => datetime.slice(0, 10))
  assert.deepEqual(days, days.toSorted().reverse())
  assert.deepEqual([...scenesFor({ ...query, limit: 7 }), ...scenesFor({ ...query, limit: 7, offset: 7 })], all.slice(0, 14))
  const some = [all[3]!, all[40]!]
  assert.deepEqual(scenesFor({ sensor: 'sandbox-open', ids: some.map(({ id }) => id) }), some)
})

test('unknown ids return nothing, and a search needs dates', () => {
  assert.throws(() => scenesFor({ sensor: 'sandbox-open' }), RangeError)
  assert.deepEqual(
    scenesFor({
      sensor: 'sandbox-open',
      ids: ['fail-502', 'sandbox-open_20250230_r1c1', 'sandbox-open_20250203_r999999c1', 'sandbox-hr_20250203_r900c10'],
    }),
    [],
  )
  assert.equal(acquisitionOf('__proto___20250203_r1c1'), null)
})

test('cloud cover varies: some days are clear, some are overcast', () => {
  const scenes = scenesFor({ sensor: 'sandbox-hr', bbox: [2.35, 48.85, 2.35, 48.85], from: '2025-01-01', to: '2025-06-30', limit: 200 })
  const covers = scenes.map(({ cloudCover }) => cloudCover ?? 0)
  const clear = covers.filter((cover) => cover < 10).length / covers.length
  assert.ok(clear > 0.15 && clear < 0.75, `${(clear * 100).toFixed(0)}% of the days are clear`)
  assert.ok(covers.some((cover) => cover > 80))
})
