import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scene } from '../../../test/support/scene.ts'
import { world } from '../../../test/support/world.ts'

const AREA = {
  type: 'Polygon',
  coordinates: [
    [
      [151, -33.1],
      [151.1, -33.1],
      [151.1, -33],
      [151, -33],
      [151, -33.1],
    ],
  ],
}
const DAY_SECONDS = 86_400

// Goal: the raster of change detection is a map layer for everyone who can read both scenes, until it expires.
test('analytics.result.tile', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const other = (await w.ok(org.owner.token, 'projects.create', { name: 'Later' })).id as string
  const uploaded = async (projectId: string, name: string, value: number): Promise<string> => {
    const file = await scene({ width: 100, height: 100, bandNames: ['gray'], value: (_band, x) => (x < 50 ? 100 : value) })
    return (await w.upload(org.owner.token, projectId, { [name]: file })).body.item_ids[0]
  }
  const [before, after] = [await uploaded(org.projectId, 'before.tif', 100), await uploaded(other, 'after.tif', 200)]
  const { raster } = await w.ok(org.owner.token, 'analytics.execute', {
    operation: 'change_detection',
    params: { before_item_id: before, after_item_id: after, geometry: AREA, expression: 'b1', change_threshold: 25 },
  })
  const tileIndex = tileAt(151.05, -33.05, 10)
  const urlOf = (at: { z: number; x: number; y: number }, row = '.png') =>
    String(raster.tile_template).replace('{z}', `${at.z}`).replace('{x}', `${at.x}`).replace('{y}.webp', `${at.y}${row}`)
  const fetchTile = async (token: string | null, url = urlOf(tileIndex)) =>
    await fetch(url, token === null ? {} : { headers: { Authorization: `Bearer ${token}` } })
  const call = (token: string, more: object = {}) =>
    w.call(token, 'analytics.result.tile', { result_id: new URL(raster.tile_template).pathname.split('/')[4], ...tileIndex, ...more })

  await t.test('tiles are rendered in the colours of the change', async () => {
    const tile = await fetchTile(org.owner.token)
    assert.deepEqual([tile.status, tile.headers.get('content-type')], [200, 'image/png'])
    assert.equal(tile.headers.get('cache-control'), `private, max-age=${DAY_SECONDS}`)
    const bytes = Buffer.from(await tile.arrayBuffer())
    const empty = Buffer.from(await (await fetchTile(org.owner.token, urlOf(tileAt(10, 10, 10)))).arrayBuffer())
    assert.ok(bytes.length > empty.length, 'a tile beside the raster is transparent')
    const large = await fetchTile(org.owner.token, urlOf(tileIndex, '@2x.webp'))
    assert.deepEqual([large.status, large.headers.get('content-type')], [200, 'image/webp'])
    const same = await fetch(urlOf(tileIndex), {
      headers: { Authorization: `Bearer ${org.owner.token}`, 'If-None-Match': tile.headers.get('etag')! },
    })
    assert.equal(same.status, 304)
    assert.equal((await call(org.owner.token)).status, 200)
  })

  await t.test('an invalid URL is rejected', async () => {
    assert.equal((await fetchTile(org.owner.token, `${urlOf(tileIndex)}?colormap=magma`)).status, 400)
    assert.equal((await fetchTile(org.owner.token, urlOf({ z: 1, x: 2, y: 0 }))).status, 422)
    assert.equal((await call(org.owner.token, { result_id: before })).status, 404)
  })

  await t.test('only callers who can read both projects see it', async () => {
    const [member, stranger] = [await w.member(org), await w.organization()]
    assert.equal((await fetchTile(null)).status, 401)
    assert.equal((await fetchTile(stranger.owner.token)).status, 404)
    assert.equal((await fetchTile(member.token)).status, 200)
    await w.db.updateTable('project').set({ visibility: 'private' }).where('id', '=', other).execute()
    assert.equal((await fetchTile(member.token)).status, 403)
    assert.equal((await fetchTile(org.owner.token)).status, 200)
  })

  await t.test('until it expires', async () => {
    const { key } = await w.key(org.owner.token, ['read'])
    w.clock.advance({ seconds: raster.expires_in_seconds - 60 })
    const last = await fetchTile(key)
    assert.equal(last.status, 200)
    assert.equal(last.headers.get('cache-control'), 'private, max-age=60')
    w.clock.advance({ seconds: 60 })
    const expired = await fetchTile(key)
    assert.equal(expired.status, 404)
    assert.match(((await expired.json()) as { detail: string }).detail, /expired/)
  })
})

function tileAt(longitude: number, latitude: number, z: number) {
  const sine = Math.sin((latitude * Math.PI) / 180)
  const y = 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)
  return { z, x: Math.floor(((longitude + 180) / 360) * 2 ** z), y: Math.floor(y * 2 ** z) }
}
