import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fileHost } from '../../../test/support/ranges.ts'
import { scene, tileAt } from '../../../test/support/scene.ts'
import { world } from '../../../test/support/world.ts'

const box = (west: number, south: number, east: number, north: number) => ({
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
})

// Goal: statistics over an area are those of its pixels, and the suggested rescale can be used for tiles.
test('cog.statistics', async (t) => {
  const files = await fileHost(t)
  files.put('scene.tif', await scene({ value: (band, x) => (band === 0 ? 10 + x : 50) }))
  const w = await world(t, { egressAllow: [files.host] })
  const { owner } = await w.organization()
  const statistics = (input: object) =>
    w.call(owner.token, 'cog.statistics', { url: files.url('scene.tif'), geometry: box(151.1, -33.15, 151.201, -33.05), ...input })

  await t.test('bands, percentiles and a suggested rescale', async () => {
    const { status, body } = await statistics({ bands: '1,2', percentiles: [0, 50, 100] })
    assert.equal(status, 200)
    const [first, second] = body.statistics
    // Columns 100 to 200 lie with their centres inside, and column x holds 10 + x.
    assert.deepEqual([first.min, first.max, first.mean], [110, 210, 160])
    assert.deepEqual(first.percentiles, [
      { percentile: 0, value: 110 },
      { percentile: 50, value: 160 },
      { percentile: 100, value: 210 },
    ])
    assert.deepEqual([second.min, second.std, second.valid_fraction], [50, 0, 1])
    assert.equal(body.pixel_count, 101 * 100)
    assert.equal(
      first.histogram.counts.reduce((sum: number, n: number) => sum + n, 0),
      101 * 100,
    )
    assert.equal((await statistics({ bands: '1' })).body.rescale, '112,208')
    assert.equal(body.rescale, '110,210;50,51', 'a flat band beside another is shown evenly')
    assert.equal((await statistics({ bands: '2' })).body.rescale, '50,51', 'and alone too')
  })

  await t.test('an expression has one result', async () => {
    const { body } = await statistics({ expression: 'b1 - b2' })
    assert.deepEqual([body.statistics.length, body.statistics[0].name, body.statistics[0].mean], [1, 'b1 - b2', 110])
  })

  await t.test('tiles accept the rescale of any image of 1 to 16 bands', async () => {
    const inside = tileAt(151.15, -33.1, 12)
    const geometry = box(151.1, -33.15, 151.2, -33.05)
    const kinds = fc.constantFrom<(x: number) => number>(
      (x) => x,
      (x) => 1_000 - x / 7,
      () => 1_000,
      () => -3.4e38,
      () => Number.NaN,
    )
    let file = 0
    await fc.assert(
      fc.asyncProperty(fc.array(kinds, { minLength: 1, maxLength: 16 }), async (bands) => {
        const name = `bands-${(file += 1)}.tif`
        const bandNames = bands.map((_, index) => `b${index + 1}`)
        files.put(name, await scene({ width: 256, height: 256, dataType: 'float32', bandNames, value: (band, x) => bands[band]!(x) }))
        const url = files.url(name)
        const { body } = await w.call(owner.token, 'cog.statistics', { url, geometry })
        const tile = { url, ...inside, format: 'png', rescale: body.rescale }
        const { status, bytes } = await w.call(owner.token, 'cog.tile.render', tile)
        assert.equal(status, 200, `${body.rescale}: ${bytes.toString()}`)
        if (bands.length < 3) return
        const chosen = { ...tile, bands: `${bands.length},1,2` }
        assert.equal((await w.call(owner.token, 'cog.tile.render', chosen)).status, 200, 'each band keeps its pair')
      }),
      { numRuns: 25 },
    )
  })

  await t.test('with exact coverage, edge pixels count by the fraction inside', async () => {
    const { status, body } = await statistics({ bands: '1', exact_coverage: true, geometry: box(151.1, -33.15, 151.2004, -33.05) })
    assert.equal(status, 200)
    assert.ok(Math.abs(body.pixel_count - 100.4 * 100) < 1e-3, `${body.pixel_count} pixels`)
    assert.ok(Math.abs(body.statistics[0].count - 100.4 * 100) < 1e-3)
  })

  await t.test('rejections', async () => {
    for (const input of [
      { geometry: { type: 'Point', coordinates: [0, 0] } },
      { bands: '1', expression: 'b1' },
      { percentiles: [101] },
      { percentiles: [] },
      { bands: '5' },
    ])
      assert.equal((await statistics(input)).status, 422, JSON.stringify(input))
  })
})
