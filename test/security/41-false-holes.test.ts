import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '#core/ids.ts'
import { balance, features, grant, scenes, square } from '../orders/support.ts'
import { scene } from '../support/scene.ts'
import { world } from '../support/world.ts'

type Point = [number, number]
const ring = (west: number, south: number, size: number): Point[] => [
  [west, south],
  [west + size, south],
  [west + size, south + size],
  [west, south + size],
  [west, south],
]

/** The square, made smaller on paper by a hole that takes nothing away. */
const falseHoles = ([west, south]: Point, size: number) => ({
  beside: { type: 'Polygon', coordinates: [ring(west, south, size), ring(west + 2 * size, south, size * 0.99)] },
  over: { type: 'Polygon', coordinates: [ring(west, south, size), ring(west, south, size)] },
  beyond: { type: 'Polygon', coordinates: [ring(west, south, size), ring(west - size / 2, south - size / 2, 2 * size)] },
  'in another part': {
    type: 'MultiPolygon',
    coordinates: [
      [ring(west, south, size)],
      [ring(west + 2 * size, south, size / 10), ring(west + size / 100, south + size / 100, size * 0.9)],
    ],
  },
})

// Goal: no geometry measures less than it covers: invalid geometries are 422 before they are priced, and cost nothing.
test('row 41: false holes', async (t) => {
  const w = await world(t, { vendors: true })
  const org = await w.organization()
  const { token } = org.owner
  await grant(w, org, 100_000)
  const [sold] = await scenes(w)
  const itemId = (await w.upload(token, org.projectId, { 'a.tif': await scene({ width: 300, height: 300 }) })).body.item_ids[0] as string
  const before = await balance(w, org)
  const keyed = () => ({ 'idempotency-key': newId() })
  const isRefused = (answer: { status: number; body: { errors?: { field: string; message: string }[] } }, what: string) => {
    assert.equal(answer.status, 422, `${what}: ${JSON.stringify(answer.body)}`)
    const [error] = answer.body.errors!
    assert.match(error!.message, /^polygon \d, (outer ring|hole \d) .* at \[-?[\d.]+, -?[\d.]+\]$/, what)
  }

  for (const [kind, geometry] of Object.entries(falseHoles([2.3, 48.2], 0.01)))
    await t.test(`a hole ${kind}: orders`, async () => {
      const captures = [{ id: sold!.id, geometry, host: 'sandbox-hr' }]
      const group = {
        dataProduct: 'sandbox-vhr-tasking',
        featureCollection: features(geometry),
        params: { acquisitionStart: '2030-01-01T00:00:00Z', acquisitionEnd: '2030-02-01T00:00:00Z' },
      }
      isRefused(await w.call(token, 'orders.archive.estimate', { captures }), 'orders.archive.estimate')
      isRefused(await w.call(token, 'orders.archive.place', { projectId: org.projectId, captures }, keyed()), 'orders.archive.place')
      isRefused(await w.call(token, 'orders.tasking.estimate', { groups: [group] }), 'orders.tasking.estimate')
      isRefused(await w.call(token, 'orders.tasking.place', { projectId: org.projectId, groups: [group] }, keyed()), 'orders.tasking.place')
    })

  for (const [kind, geometry] of Object.entries(falseHoles([151.05, -33.1], 0.05)))
    await t.test(`a hole ${kind}: jobs, clips and items`, async () => {
      const inputs = { item_id: itemId, expression: 'b1*2', geometry }
      const job = { project_id: org.projectId, job_type_id: 'band_math', input_params: inputs }
      const clip = { source_item_id: itemId, project_id: org.projectId, aoi_geometry: geometry }
      isRefused(await w.call(token, 'processing.catalog.estimate', { process_id: 'band_math', inputs }), 'processing.catalog.estimate')
      isRefused(await w.call(token, 'processing.create', job, keyed()), 'processing.create')
      isRefused(await w.call(token, 'clip.create_from_item', clip, keyed()), 'clip.create_from_item')
      isRefused(await w.call(token, 'items.update', { item_id: itemId, geometry }), 'items.update')
      isRefused(await w.call(token, 'items.tile.statistics', { item_id: itemId, geometry }), 'items.tile.statistics')
      isRefused(
        await w.call(token, 'catalog.search', {
          host_name: 'sandbox-open',
          intersects: {
            ...geometry,
            type: 'Polygon',
            coordinates: geometry.type === 'Polygon' ? geometry.coordinates : geometry.coordinates[1],
          },
        }),
        'catalog.search',
      )
    })

  await t.test('nothing was paid or reserved', async () => assert.deepEqual(await balance(w, org), before))

  await t.test('minor faults are corrected, and the area is the same everywhere', async () => {
    const { coordinates } = square() as { coordinates: Point[][] }
    const [first, second, ...rest] = coordinates[0]!
    const spike: Point = [second![0] + 0.005, second![1]]
    const untidy = { type: 'Polygon', coordinates: [[first!, second!, spike, second!, second!, ...rest].toReversed()] }
    const price = async (geometry: object) =>
      (await w.ok(token, 'orders.archive.estimate', { captures: [{ id: sold!.id, geometry, host: 'sandbox-hr' }] })).groups[0]
    const [tidy, mended] = [await price(square()), await price(untidy)]
    assert.equal(mended.credits, tidy.credits)
    assert.equal(mended.aoi_km2, tidy.aoi_km2)
    await w.ok(token, 'items.update', { item_id: itemId, geometry: untidy })
    const { item } = await w.ok(token, 'items.get', { item_id: itemId })
    assert.equal(item.geometry.coordinates[0].length, 5, 'the mended ring is what is stored')
  })
})
