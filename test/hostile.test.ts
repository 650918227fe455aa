import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { fileHost } from './ranges.ts'
import { world } from './world.ts'

const FOLDER = path.join(import.meta.dirname, '../../shared/data/hostile-tiffs')
const AREA = { type: 'Polygon', coordinates: [[[-179, -80], [179, -80], [179, 80], [-179, 80], [-179, -80]]] }

// Goal: whatever bytes an address leads to, the caller gets a picture or a typed refusal, and the service stays as it was.
test('hostile TIFFs through the service', { skip: existsSync(FOLDER) ? false : 'the corpus of hostile files is not beside this checkout' }, async (t) => {
  const files = await fileHost(t)
  const w = await world(t, { egressAllow: [files.host] })
  const { owner } = await w.organization()
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.tif'))
  assert.ok(names.length > 50)
  const seen = new Map<number, number>()
  for (const name of names) {
    files.put(name, readFileSync(path.join(FOLDER, name)))
    const url = files.url(name)
    const answers = await Promise.all([
      w.call(owner.token, 'cog.thumbnail', { url }),
      w.call(owner.token, 'cog.tile.render', { url, z: 0, x: 0, y: 0, format: 'png' }),
      w.call(owner.token, 'cog.statistics', { url, geometry: AREA }),
      w.call(owner.token, 'cog.tile.terrain', { url, z: 0, x: 0, y: 0 }),
    ])
    for (const { status, body, headers } of answers) {
      assert.ok(status === 200 || status === 422, `${name}: ${status} ${JSON.stringify(body)}`)
      if (status === 422) assert.match(headers.get('content-type')!, /problem\+json/)
      seen.set(status, (seen.get(status) ?? 0) + 1)
    }
  }
  const metrics = w.platform.raster.metrics()
  t.diagnostic(`${names.length} files: ${[...seen].map(([status, count]) => `${count} x ${status}`).join(', ')}; children ended by force: ${metrics['pool_timedOut']! + metrics['pool_outOfMemory']!}`)
  assert.equal(metrics['pool_crashed'], 0)
  assert.equal((await w.request('GET', '/health')).status, 200)
})
