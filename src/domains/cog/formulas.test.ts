import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/support/world.ts'

// Goal: the templates that clients build their pickers from are there, and each names a colormap that exists.
test('cog.formulas', async (t) => {
  const w = await world(t)
  const { owner } = await w.organization()
  const formulas = await w.ok(owner.token, 'cog.formulas')
  const { groups } = await w.ok(owner.token, 'cog.colormaps')
  const colormaps = new Set(groups.flatMap((group: { colormaps: { id: string }[] }) => group.colormaps.map(({ id }) => id)))
  assert.ok(Object.keys(formulas).length >= 60)
  for (const [id, { colormap, bands, rescale }] of Object.entries(formulas) as [
    string,
    { colormap: string; bands: string[]; rescale: string },
  ][]) {
    assert.ok(colormaps.has(colormap.toLowerCase().replace(/_r$/, '')), `${id} names ${colormap}`)
    assert.ok(bands.length > 0 && /^-?[\d.]+,-?[\d.]+$/.test(rescale), id)
  }
})
