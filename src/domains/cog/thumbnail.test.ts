import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import { fileHost } from '../../../test/support/ranges.ts'
import { scene } from '../../../test/support/scene.ts'
import { world } from '../../../test/support/world.ts'

// Goal: a JPEG of the whole image that keeps its proportions, and uses the range of the data.
test('cog.thumbnail', async (t) => {
  const files = await fileHost(t)
  files.put('scene.tif', await scene({ width: 300, height: 200, value: (_band, x) => 1000 + x }))
  const w = await world(t, { egressAllow: [files.host] })
  const { owner } = await w.organization()
  const { status, headers, bytes } = await w.call(owner.token, 'cog.thumbnail', { url: files.url('scene.tif') })
  assert.deepEqual([status, headers.get('content-type')], [200, 'image/jpeg'])
  const { data, info } = await sharp(bytes).greyscale().raw().toBuffer({ resolveWithObject: true })
  assert.deepEqual([info.width, info.height], [256, 171])
  assert.ok(data[0]! < 20 && data[info.width - 1]! > 235, 'stretched from 2% to 98%')
  assert.equal((await w.call(owner.token, 'cog.thumbnail', { url: files.url('scene.tif'), width: 5000 })).status, 422)
})
