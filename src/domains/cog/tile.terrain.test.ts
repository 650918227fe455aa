import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import { fileHost } from '../../../test/support/ranges.ts'
import { scene, tileAt } from '../../../test/support/scene.ts'
import { world } from '../../../test/support/world.ts'

// Goal: heights come back from the colours exactly, to a tenth of a metre; depths by `invert`; nothing outside the area.
test('cog.tile.terrain', async (t) => {
  const files = await fileHost(t)
  files.put('dem.tif', await scene({ bandNames: ['height'], dataType: 'float32', value: () => 1234.5 }))
  const w = await world(t, { egressAllow: [files.host] })
  const { owner } = await w.organization()
  const heightAt = async (input: object, at: number) => {
    const { status, headers, bytes } = await w.call(owner.token, 'cog.tile.terrain', {
      url: files.url('dem.tif'),
      ...tileAt(151.15, -33.1, 12),
      ...input,
    })
    assert.deepEqual([status, headers.get('content-type')], [200, 'image/webp'])
    const { data } = await sharp(bytes).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
    const [red, green, blue, alpha] = [data[at * 4]!, data[at * 4 + 1]!, data[at * 4 + 2]!, data[at * 4 + 3]!]
    return { height: Math.round((-10_000 + (red * 65_536 + green * 256 + blue) * 0.1) * 10) / 10, alpha }
  }
  const middle = 128 * 256 + 128
  assert.deepEqual(await heightAt({}, middle), { height: 1234.5, alpha: 255 })
  assert.deepEqual(await heightAt({ invert: true }, middle), { height: -1234.5, alpha: 255 })
  assert.deepEqual(await heightAt(tileAt(10, 10, 12), middle), { height: 0, alpha: 0 })
  const aoi = JSON.stringify({
    type: 'Polygon',
    coordinates: [
      [
        [150, -30],
        [150.1, -30],
        [150.1, -30.1],
        [150, -30.1],
        [150, -30],
      ],
    ],
  })
  assert.deepEqual(await heightAt({ aoi }, middle), { height: 0, alpha: 0 })
})
