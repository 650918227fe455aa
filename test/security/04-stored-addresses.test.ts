import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { world } from '../support/world.ts'

/*
 * Goal (docs/threats.md, row 4): an address that was stored with an item is asked anew, when its pixels are read, whether it may be
 * reached at all. A listener on this machine, which every form below points to, hears nothing.
 */
test('stored addresses are guarded when they are read', async (t) => {
  let heard = 0
  const canary = createServer((_request, response) => {
    heard++
    response.end('here')
  })
  canary.on('connection', () => {
    heard++
  })
  await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    canary.closeAllConnections()
    canary.close()
  })
  const { port } = canary.address() as AddressInfo
  const w = await world(t, { egressAllow: ['allowed.example'] })
  const org = await w.organization()
  const { id: collectionId } = await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name: 'Stored' })
  const { key } = await w.key(org.owner.token, ['read'])
  const hrefs = [
    `https://127.0.0.1:${port}/a.tif`,
    `https://localhost:${port}/a.tif`,
    `https://[::1]:${port}/a.tif`,
    `https://[::ffff:127.0.0.1]:${port}/a.tif`,
    `https://2130706433:${port}/a.tif`,
    `https://0x7f.1:${port}/a.tif`,
    `https://0177.0.0.1:${port}/a.tif`,
    `https://127.1:${port}/a.tif`,
    `https://allowed.example.:${port}/a.tif`,
    `https://allowed.example@127.0.0.1:${port}/a.tif`,
    'https://169.254.169.254/latest/meta-data',
    'https://data.example/a.tif',
  ]
  for (const href of hrefs) {
    const { status, body } = await w.call(org.owner.token, 'items.create', {
      project_id: org.projectId,
      collection_id: collectionId,
      type: 'mosaic',
      name: 'Stored',
      bbox: [150, -34, 152, -33],
      assets: [{ key: 'data', href, roles: ['data'] }],
    })
    if (status === 422) continue // Already rejected on input: it contains a user name.
    assert.equal(status, 200)
    const place = { item_id: body.id, z: 0, x: 0, y: 0 }
    const calls: [string, object][] = [
      ['items.tile.render', place],
      ['items.tile.wmts_get_tile', place],
      ['items.tile.tilejson', { item_id: body.id }],
      ['items.tile.statistics', { item_id: body.id, expression: 'b1' }],
      ['items.tile.wmts_capabilities', { item_id: body.id, base_url: w.baseUrl }],
      ['items.point', { item_id: body.id, longitude: 151, latitude: -33.5 }],
    ]
    for (const [operation, input] of calls) {
      const answer = await w.call(org.owner.token, operation, input)
      assert.equal(answer.status, 422, `${operation} ${href}`)
      assert.match(answer.body.detail, /is not allowed|https URL/)
    }
    assert.equal((await w.request('GET', `/api/v1/items/${body.id}/tiles/0/0/0.png?key=${key}`)).status, 422)
    assert.equal((await w.request('GET', `/wmts/${body.id}?request=GetCapabilities&key=${key}`)).status, 400)
  }
  assert.equal((await w.call(org.owner.token, 'collections.tile.render', { collection_id: collectionId, z: 0, x: 0, y: 0 })).status, 422)
  assert.equal(heard, 0, 'nobody knocked')
})
