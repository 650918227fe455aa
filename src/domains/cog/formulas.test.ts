import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/world.ts'

// Goal: the catalogues that clients build their pickers from are there, complete, and fit together.
test('cog.formulas, cog.colormaps and visualization.list_for', async (t) => {
  const w = await world(t)
  const { owner } = await w.organization()
  const formulas = await w.ok(owner.token, 'cog.formulas')
  const { groups } = await w.ok(owner.token, 'cog.colormaps')
  const colormaps = new Set(groups.flatMap((group: { colormaps: { id: string }[] }) => group.colormaps.map(({ id }) => id)))
  assert.ok(Object.keys(formulas).length >= 60)
  assert.ok(colormaps.size >= 60)
  assert.deepEqual(groups.map((group: { name: string }) => group.name), ['perceptual', 'sequential', 'diverging', 'elevation', 'categorical'])
  for (const [id, { colormap }] of Object.entries(formulas) as [string, { colormap: string }][]) assert.ok(colormaps.has(colormap.toLowerCase().replace(/_r$/, '')), `${id} names ${colormap}`)

  const sentinel = await w.ok(owner.token, 'visualization.list_for', { band_roles: { RED: 3, GREEN: 2, BLUE: 1, NIR: 4 } })
  assert.equal(sentinel.default_id, 'rgb')
  const ndvi = sentinel.visualizations.find((entry: { id: string }) => entry.id === 'ndvi')
  assert.equal(ndvi.expression.replaceAll(' ', ''), '(b4-b3)/(b4+b3)')
  assert.equal(sentinel.visualizations.filter((entry: { is_default: boolean }) => entry.is_default).length, 1)
  const dem = await w.ok(owner.token, 'visualization.list_for', { data_type: 'dem' })
  assert.deepEqual(dem.visualizations.map((entry: { kind: string }) => entry.kind), ['elevation'])
  assert.equal((await w.call(owner.token, 'visualization.list_for', { band_roles: { RED: 0 } })).status, 422)
})
