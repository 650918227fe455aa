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
})
