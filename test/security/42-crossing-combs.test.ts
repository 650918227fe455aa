import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOverlays, MAX_CROSSINGS } from '#adapters/overlays/overlays.ts'
import type { AreaGeometry, Position } from '#core/geometry.ts'
import { Problem } from '#core/problem.ts'
import { features, grant, scenes } from '../orders/support.ts'
import { world } from '../support/world.ts'

const TEETH = 60

/** 243 vertices: teeth of a comb that stand up or lie on their side, a little askew so that no two edges are parallel. */
function comb(isUpright: boolean, [west, south]: Position = [2.3, 48.2], size = 0.02): AreaGeometry {
  const points: Position[] = []
  for (let tooth = 0; tooth < TEETH; tooth++) {
    const [left, right] = [tooth / TEETH, (tooth + 0.45) / TEETH]
    const lean = 0.0001 * tooth
    points.push([left, 0.1], [left + lean, 1], [right + lean, 1], [right, 0.1])
  }
  points.push([1, 0], [0, 0], points[0]!)
  const place = ([x, y]: Position): Position => [west + size * (isUpright ? x : y), south + size * (isUpright ? y : x)]
  return { type: 'Polygon', coordinates: [points.map(place)] }
}

// Goal: areas that cross each other thousands of times are rejected before they are combined, which never happens on the event loop.
test('row 42: crossing combs', async (t) => {
  const combs = [comb(true), comb(false)]
  assert.equal(combs[0]!.coordinates.flat().length, 243)

  await t.test('operations return 422 and say what to do', async () => {
    const w = await world(t, { vendors: true })
    const org = await w.organization()
    const { token } = org.owner
    await grant(w, org, 100_000)
    const sold = await scenes(w)
    const captures = combs.map((geometry, index) => ({ id: sold[index]!.id, geometry, host: 'sandbox-hr' }))
    const dataProduct = 'sandbox-vhr-tasking'
    const params = { acquisitionStart: '2030-01-01T00:00:00Z', acquisitionEnd: '2030-02-01T00:00:00Z' }
    const featureCollection = features(...combs)
    const calls: [string, object][] = [
      ['orders.archive.estimate', { captures }],
      ['orders.tasking.estimate', { groups: [{ dataProduct, featureCollection, params }] }],
      ['orders.tasking.opportunities_list', { dataProduct, featureCollection }],
    ]
    for (const [id, input] of calls) {
      const [answer, health] = await Promise.all([w.call(token, id, input), w.request('GET', '/health')])
      assert.equal(answer.status, 422, `${id}: ${answer.bytes.toString()}`)
      assert.match(answer.body.errors[0].message, new RegExp(`cross each other more than ${MAX_CROSSINGS} times; simplify`))
      assert.equal(health.status, 200)
    }
  })

  await t.test('while a thread combines them, other requests are served', async () => {
    const overlays = createOverlays({ maxCrossings: Infinity })
    t.after(() => overlays.close())
    let turns = 0
    const ticking = setInterval(() => turns++, 1)
    const small = [comb(true), comb(false)].map(({ coordinates }): AreaGeometry => ({
      type: 'Polygon',
      coordinates: [[...(coordinates[0] as Position[]).slice(0, 60), coordinates[0]![0] as Position]],
    }))
    const whole = await overlays.union(small, { organizationId: 'a', field: 'areas' })
    clearInterval(ticking)
    assert.ok(whole)
    assert.ok(turns > 0, 'the event loop had turns of its own meanwhile')
  })

  await t.test('an overlay that takes too long is cancelled, and the next one gets a thread', async () => {
    const overlays = createOverlays({ maxCrossings: Infinity, deadlineMs: 1 })
    t.after(() => overlays.close())
    const about = { organizationId: 'a', field: 'areas' }
    const tooSlow = (error: unknown) => error instanceof Problem && error.status === 422 && /simplify them/.test(error.message)
    await assert.rejects(overlays.union(combs, about), tooSlow)
    await assert.rejects(overlays.coverage(combs[0]!, [combs[1]!], about), tooSlow)
  })
})
