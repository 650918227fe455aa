// Goal: values along a line are those of its points, at equal distances of known length, and only for those who can read the item.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rasterItem } from '../../../test/support/layers.ts'
import { scene } from '../../../test/support/scene.ts'
import { world } from '../../../test/support/world.ts'

interface Sample {
  distance_m: number
  longitude: number
  latitude: number
  inside: boolean
  values: (number | null)[]
}

const lineOf = (...coordinates: [number, number][]) => ({ type: 'LineString', coordinates })

test('items.line', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const token = org.owner.token
  const id = await rasterItem(w, org, [
    { bytes: await scene({ nodata: 0, value: (band, x, y) => (x === 0 ? 0 : 100 * (band + 1) + x + y) }) },
  ])
  const line = (input: object, who = token) => w.call(who, 'items.line', { item_id: id, ...input })
  const short = lineOf([151.15, -33.1], [151.152, -33.101])

  await t.test('a short line has the values of items.point', async () => {
    const { names, samples } = await w.ok(token, 'items.line', {
      item_id: id,
      geometry: short,
      samples: 5,
      expression: 'nir - red; nir; b1',
    })
    assert.deepEqual(names, ['nir - red', 'nir', 'b1'])
    assert.equal(samples.length, 5)
    for (const { longitude, latitude, values, inside } of samples as Sample[]) {
      const point = await w.ok(token, 'items.point', { item_id: id, longitude, latitude, expression: 'nir - red; nir; b1' })
      assert.deepEqual([inside, values], [point.inside, point.results.map(({ value }: { value: number }) => value)])
    }
  })

  await t.test('without an expression it has the bands of the style, and no data is null', async () => {
    const bands = await w.ok(token, 'items.line', { item_id: id, geometry: short, samples: 2, bands: 'nir,blue,red' })
    assert.deepEqual(bands.names, ['nir', 'blue', 'red'])
    const [first] = bands.samples as Sample[]
    const point = await w.ok(token, 'items.point', { item_id: id, longitude: first!.longitude, latitude: first!.latitude })
    assert.deepEqual(
      first!.values,
      [3, 0, 2].map((band) => point.bands[band].value),
    )
    const { samples } = await w.ok(token, 'items.line', {
      item_id: id,
      geometry: lineOf([150.9995, -33.1005], [151.0005, -33.1005]),
      samples: 2,
      bands: '1',
    })
    assert.deepEqual(
      (samples as Sample[]).map(({ inside, values }) => [inside, values[0]]),
      [
        [false, null],
        [true, null],
      ],
    )
  })

  await t.test('distances are equal and add up to the length on the ellipsoid', async () => {
    // A degree of the equator, of a meridian, and a corner across the antimeridian, by GeographicLib.
    for (const [geometry, lengthM] of [
      [lineOf([0, 0], [1, 0]), 111_319.4908],
      [lineOf([0, 0], [0, 1]), 110_574.3886],
      [lineOf([179.9, 10], [-179.9, 10.2]), 31_143.292],
    ] as const) {
      const { length_m, samples } = await w.ok(token, 'items.line', { item_id: id, geometry, samples: 11 })
      assert.ok(Math.abs(length_m / lengthM - 1) < 2e-6, `${length_m} m is not ${lengthM} m`)
      const distances = (samples as Sample[]).map(({ distance_m }) => distance_m)
      for (const [index, distance] of distances.entries()) assert.ok(Math.abs(distance - (length_m * index) / 10) < 1e-6)
      for (const { longitude } of samples as Sample[]) assert.ok(longitude >= -180 && longitude <= 180)
    }
  })

  await t.test('a long line is read from an overview, near the values of its points', async () => {
    const { samples } = await w.ok(token, 'items.line', {
      item_id: id,
      geometry: lineOf([151.02, -33.02], [151.28, -33.18]),
      samples: 12,
      bands: '1',
    })
    for (const { longitude, latitude, values } of samples as Sample[]) {
      const point = await w.ok(token, 'items.point', { item_id: id, longitude, latitude })
      const expected = point.bands[0].value as number
      assert.ok(Math.abs(values[0]! - expected) < 16, `${values[0]} is not near ${expected}`)
    }
  })

  await t.test('other geometries, more samples and strangers are refused', async () => {
    assert.equal((await line({ geometry: { type: 'Point', coordinates: [151.1, -33.1] } })).status, 422)
    assert.equal((await line({ geometry: lineOf([151.1, -33.1]) })).status, 422)
    assert.equal((await line({ geometry: short, samples: 501 })).status, 422)
    assert.equal((await line({ geometry: short, expression: 'b9' })).status, 422)
    assert.equal((await line({ geometry: short }, (await w.organization()).owner.token)).status, 404)
  })
})
