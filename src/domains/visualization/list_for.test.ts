import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/support/world.ts'

// Goal: band roles determine the available visualizations, with exactly one default.
test('visualization.list_for', async (t) => {
  const w = await world(t)
  const { owner } = await w.organization()
  const list = (input: object) => w.ok(owner.token, 'visualization.list_for', input)

  const four = await list({ band_roles: { RED: 3, GREEN: 2, BLUE: 1, NIR: 4 }, asset: 'data' })
  assert.equal(four.default_id, 'rgb')
  assert.equal(four.visualizations.filter((entry: { is_default: boolean }) => entry.is_default).length, 1)
  const ndvi = four.visualizations.find((entry: { id: string }) => entry.id === 'ndvi')
  assert.deepEqual([ndvi.expression.replaceAll(' ', ''), ndvi.asset], ['(b4-b3)/(b4+b3)', 'data'])
  assert.ok(!four.visualizations.some((entry: { id: string }) => entry.id === 'swir'), 'no band, no composite of it')

  const chosen = await list({ band_roles: { RED: 3, GREEN: 2, BLUE: 1, NIR: 4 }, render_params: { default_id: 'cir', unknown: [1] } })
  assert.equal(chosen.default_id, 'cir')
  assert.deepEqual(
    (await list({ data_type: 'dem' })).visualizations.map((entry: { kind: string }) => entry.kind),
    ['elevation'],
  )
  assert.deepEqual(
    (await list({ band_roles: { pan: 1 } })).visualizations.map((entry: { kind: string }) => entry.kind),
    ['raw'],
  )
  assert.deepEqual(await list({}), { visualizations: [], default_id: null })
  assert.equal((await w.call(owner.token, 'visualization.list_for', { band_roles: { RED: 0 } })).status, 422)
})
