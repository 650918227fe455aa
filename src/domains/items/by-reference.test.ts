import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scene } from '../../../test/support/scene.ts'
import { storeFile } from '../../../test/support/stored-file.ts'
import { world } from '../../../test/support/world.ts'

// Goal: a file by reference never redirects users to a host that the operator did not allow, and no URL breaks the service.
test('files by reference', async (t) => {
  const w = await world(t, { egressAllow: ['known.example'] })
  const org = await w.organization()
  const token = org.owner.token
  const create = (href: string, more: object = {}) =>
    w.call(token, 'items.create', {
      project_id: org.projectId,
      type: 'external_reference',
      name: 'n',
      assets: [{ key: 'data', href, media_type: 'image/tiff' }],
      ...more,
    })

  await t.test('plain http is only for hosts that the operator allows, on create and on import', async () => {
    assert.equal((await create('http://known.example/a.tif')).status, 200)
    const refused = await create('http://other.example/a.tif')
    assert.deepEqual([refused.status, refused.body.errors[0].field], [422, 'assets.0.href'])
    const feature = (id: string, host: string) => ({
      type: 'Feature',
      id,
      geometry: null,
      properties: { datetime: '2029-01-01T00:00:00Z' },
      assets: { data: { href: `http://${host}/a.tif` } },
    })
    const { created, errors } = await w.ok(token, 'items.import_stac', {
      project_id: org.projectId,
      features: { type: 'FeatureCollection', features: [feature('by-http', 'known.example'), feature('by-http-too', 'other.example')] },
    })
    assert.deepEqual([created, errors.map((error: { id: string }) => error.id)], [1, ['by-http-too']])
  })

  await t.test('a URL signed by the built-in store can be read like any other, and no other path there', async () => {
    const { id: item_id } = await w.ok(token, 'items.create', { project_id: org.projectId, type: 'user_raster', name: 'n' })
    const asset_id = await storeFile(w, item_id, { bytes: await scene() })
    const { url } = await w.ok(token, 'items.asset.download', { item_id, asset_id })
    const geometry = {
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
    const { statistics } = await w.ok(token, 'cog.statistics', { url, geometry })
    assert.equal(statistics.length, 4)
    const tampered = await w.call(token, 'cog.statistics', { url: url.replace(/signature=[^&]+/i, 'signature=0'), geometry })
    assert.ok([422, 502].includes(tampered.status), String(tampered.status))
  })

  await t.test('a download from an unknown host is 400 with the URL of the file, shared or not', async () => {
    const { body: item } = await create('https://evil.example/steal?next=1')
    const [{ id: asset_id, href }] = await w.ok(token, 'items.list_assets', { item_id: item.id })
    assert.equal(href, 'https://evil.example/steal?next=1', 'it is kept and shown')
    const download = await w.call(token, 'items.asset.download', { item_id: item.id, asset_id })
    assert.equal(download.status, 400)
    assert.match(download.body.detail, /https:\/\/evil\.example\/steal/)
    const route = await w.request('GET', `/api/v1/items/${item.id}/assets/data`, { headers: { authorization: `Bearer ${token}` } })
    assert.deepEqual([route.status, route.headers.get('location')], [400, null])

    const link = await w.ok(token, 'share.link.create', {
      target_type: 'item',
      target_id: item.id,
      password: 'open sesame 1',
      permission: 'download',
      expires_at: '2030-01-05T00:00:00Z',
    })
    const shared = await w.call(null, 'share.asset.download', { token: link.token, password: 'open sesame 1', asset_id })
    assert.equal(shared.status, 400)
    const { grant } = await grantOf(link.token)
    const redirected = await w.request('GET', `/api/v1/share/assets/${asset_id}?grant=${grant}`)
    assert.equal(redirected.headers.get('location'), null)
    assert.ok(redirected.status >= 400 && redirected.status < 500, String(redirected.status))
  })

  await t.test('a download from an allowed host is a redirect', async () => {
    const { body: item } = await create('https://known.example/a.tif')
    const route = await w.request('GET', `/api/v1/items/${item.id}/assets/data`, { headers: { authorization: `Bearer ${token}` } })
    assert.deepEqual([route.status, route.headers.get('location')], [302, 'https://known.example/a.tif'])
  })

  await t.test('a line break in a URL is 422; characters outside ASCII are sent encoded', async () => {
    for (const href of ['https://known.example/a\r\nSet-Cookie: x=1', 'https://known.example/\u0085'])
      assert.equal((await create(href)).status, 422, JSON.stringify(href))
    const { status, body: item } = await create('https://known.example/größe.tif')
    assert.equal(status, 200)
    const route = await w.request('GET', `/api/v1/items/${item.id}/assets/data`, { headers: { authorization: `Bearer ${token}` } })
    assert.deepEqual([route.status, route.headers.get('location')], [302, 'https://known.example/gr%C3%B6%C3%9Fe.tif'])
  })

  await t.test('years that the database cannot store are 422', async () => {
    for (const datetime of ['0000-06-01T00:00:00Z', '0001-01-01T00:00:00+14:00', '9999-12-31T23:59:59-14:00']) {
      assert.equal((await create('https://known.example/a.tif', { datetime })).status, 422, datetime)
      assert.equal((await w.call(token, 'organizations.audit.list', { from: datetime })).status, 422, datetime)
    }
  })

  async function grantOf(shareToken: string): Promise<{ grant: string }> {
    const { bytes } = await w.call(null, 'share.link.validate', { token: shareToken, password: 'open sesame 1' })
    return { grant: /grant=([^"&\\]+)/.exec(bytes.toString())?.[1] ?? '' }
  }
})
