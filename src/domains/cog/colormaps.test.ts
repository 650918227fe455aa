import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/support/world.ts'

// Goal: at least sixty colormaps in their five groups, each with stops from one end to the other.
test('cog.colormaps', async (t) => {
  const w = await world(t)
  const { owner } = await w.organization()
  const { groups } = await w.ok(owner.token, 'cog.colormaps')
  assert.deepEqual(
    groups.map((group: { name: string }) => group.name),
    ['perceptual', 'sequential', 'diverging', 'elevation', 'categorical'],
  )
  const colormaps = groups.flatMap((group: { colormaps: object[] }) => group.colormaps) as {
    id: string
    stops: { position: number; color: string }[]
  }[]
  assert.ok(colormaps.length >= 60)
  assert.equal(new Set(colormaps.map(({ id }) => id)).size, colormaps.length)
  for (const { id, stops } of colormaps) {
    assert.deepEqual([stops[0]!.position, stops.at(-1)!.position], [0, 1], id)
    assert.ok(
      stops.every(({ color }) => /^#[0-9a-f]{6}$/i.test(color)),
      id,
    )
  }

  await t.test('one colormap by its ID, with all its colours, in either direction', async () => {
    const colorsOf = async (id: string): Promise<string[]> => {
      const { groups: found } = await w.ok(owner.token, 'cog.colormaps', { id })
      assert.deepEqual([found.length, found[0].colormaps.length, found[0].name], [1, 1, 'perceptual'])
      return found[0].colormaps[0].colors
    }
    const colors = await colorsOf('viridis')
    assert.deepEqual([colors.length, colors[0], colors.at(-1)], [256, '#440154', '#fde724'])
    assert.deepEqual(await colorsOf('viridis_r'), colors.toReversed())
    const { status, body } = await w.call(owner.token, 'cog.colormaps', { id: 'virides' })
    assert.equal(status, 422)
    assert.match(JSON.stringify(body), /viridis/)
  })
})
