import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import { newId } from '#core/ids.ts'
import { scene, tileAt } from '../../../test/support/scene.ts'
import { storeFile } from '../../../test/support/stored-file.ts'
import { world, type Org, type World } from '../../../test/support/world.ts'

const PASSWORD = 'coral and sand'
const INSIDE = tileAt(151.15, -33.1, 12)

async function sharedScene(w: World, org: Org, more: object = {}) {
  const { id: item_id } = await w.ok(org.owner.token, 'items.create', {
    project_id: org.projectId,
    type: 'user_raster',
    name: 'Harbour',
    bbox: [151, -34, 152, -33],
    datetime: '2029-05-01T10:00:00Z',
    gsd: 10,
    cloud_cover: 3,
    ...more,
  })
  const asset_id = await storeFile(w, item_id, { bytes: await scene(), bandNames: ['blue', 'green', 'red', 'nir'] })
  return { item_id: item_id as string, asset_id }
}

const inDays = (w: World, days: number) => new Date(w.clock.now().getTime() + days * 86_400_000).toISOString()

async function link(w: World, token: string, target_id: string, more: object = {}): Promise<{ id: string; token: string }> {
  return await w.ok(token, 'share.link.create', { target_type: 'item', target_id, password: PASSWORD, expires_at: inDays(w, 7), ...more })
}

// Goal: an editor shares an item or a collection; the token is returned once and never stored; anyone else is rejected with
// the reason, and nothing is left behind.
test('share.link.create, share.links.list and share.link.revoke', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { item_id } = await sharedScene(w, org)
  const { id: collection_id } = await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name: 'Harbours' })
  const input = { target_type: 'item', target_id: item_id, password: PASSWORD, expires_at: inDays(w, 7) }
  const editor = await w.member(org, 'editor')
  const viewer = await w.member(org, 'viewer')
  const stranger = await w.organization()

  await t.test('the record, its lineage, and a token that is not stored', async () => {
    const { token, ...record } = await w.ok(editor.token, 'share.link.create', input)
    assert.match(token, /^shr_[\w-]{43}$/)
    const { id, ...rest } = record
    assert.deepEqual(rest, {
      target_type: 'item',
      target_id: item_id,
      permission: 'view',
      is_public: false,
      organization_id: org.id,
      project_id: org.projectId,
      expires_at: input.expires_at,
      revoked_at: null,
      access_count: 0,
      last_accessed_at: null,
      created_by: editor.id,
      created_at: w.clock.now().toISOString(),
    })
    const row = await w.db.selectFrom('share_link').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    assert.match(row.password_hash, /^\$2b\$/)
    assert.ok(!JSON.stringify(row).includes(token.slice(4)))
    const { edges } = await w.ok(org.owner.token, 'provenance.get', { entity_type: 'item', entity_id: item_id, direction: 'down' })
    assert.ok(
      edges.some(
        (edge: Record<string, unknown>) =>
          edge['src_type'] === 'share_link' && edge['src_id'] === id && edge['relation'] === 'derived_from' && edge['dst_id'] === item_id,
      ),
    )
  })

  await t.test('a collection; links by an API key have no creator', async () => {
    const { key } = await w.key(editor.token, ['write'])
    const shared = await w.ok(key, 'share.link.create', {
      ...input,
      target_type: 'collection',
      target_id: collection_id,
      permission: 'download',
    })
    assert.deepEqual([shared.target_type, shared.permission, shared.created_by], ['collection', 'download', null])
  })

  await t.test('errors say what to change, and nothing is left behind', async () => {
    const { count: before } = await w.db
      .selectFrom('share_link')
      .select((e) => e.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    const cases: [string, object, number, RegExp][] = [
      [editor.token, { password: 'seven77' }, 422, /password/],
      [editor.token, { password: 'ü'.repeat(37) }, 422, /at most 72 bytes/],
      [editor.token, { password: undefined }, 422, /password/],
      [editor.token, { expires_at: undefined }, 422, /expires_at/],
      [editor.token, { expires_at: w.clock.now().toISOString() }, 422, /future/],
      [editor.token, { expires_at: 'tomorrow' }, 422, /expires_at/],
      [editor.token, { permission: 'edit' }, 422, /permission/],
      [editor.token, { target_type: 'project', target_id: org.projectId }, 422, /target_type/],
      [editor.token, { target_id: newId() }, 404, /No such item/],
      [editor.token, { target_type: 'collection', target_id: item_id }, 404, /No such collection/],
      [editor.token, { target_id: collection_id }, 404, /No such item/],
      [viewer.token, {}, 403, /Access denied/],
      [viewer.token, { target_type: 'collection', target_id: collection_id }, 403, /Access denied/],
      [stranger.owner.token, {}, 404, /No such item/],
      [stranger.owner.token, { target_type: 'collection', target_id: collection_id }, 404, /No such collection/],
    ]
    for (const [token, change, status, detail] of cases) {
      const response = await w.call(token, 'share.link.create', { ...input, ...change })
      assert.deepEqual(
        [response.status, detail.test(response.body.detail)],
        [status, true],
        `${JSON.stringify(change)} → ${response.status} ${response.body.detail}`,
      )
    }
    const gone = await sharedScene(w, org)
    await w.ok(org.owner.token, 'items.delete', { item_id: gone.item_id })
    assert.equal((await w.call(editor.token, 'share.link.create', { ...input, target_id: gone.item_id })).status, 404, 'soft-deleted')
    const { count: after } = await w.db
      .selectFrom('share_link')
      .select((e) => e.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    assert.equal(after, before)
    assert.equal(
      (await w.call(editor.token, 'share.link.create', { ...input, password: 'ü'.repeat(36) })).status,
      200,
      '72 bytes are taken',
    )
  })

  await t.test('lists are for editors, newest first, and never show a token', async () => {
    const all = await w.ok(editor.token, 'share.links.list', { project_id: org.projectId })
    assert.deepEqual([all.count, all.total], [3, 3])
    assert.ok(all.share_links.every((record: object) => !('token' in record) && !('password_hash' in record)))
    assert.deepEqual(
      (await w.ok(editor.token, 'share.links.list', { target_type: 'collection' })).share_links.map(
        (record: { target_id: string }) => record.target_id,
      ),
      [collection_id],
    )
    assert.equal((await w.ok(editor.token, 'share.links.list', { target_id: item_id })).total, 2)
    const page = await w.ok(editor.token, 'share.links.list', { limit: 1, offset: 1 })
    assert.deepEqual([page.count, page.total, page.share_links[0].id], [1, 3, all.share_links[1].id])
    assert.equal((await w.call(viewer.token, 'share.links.list', { project_id: org.projectId })).status, 403)
    assert.equal((await w.ok(viewer.token, 'share.links.list')).total, 0)
    assert.equal((await w.ok(stranger.owner.token, 'share.links.list', { target_id: item_id })).total, 0)
    assert.equal((await w.call(stranger.owner.token, 'share.links.list', { project_id: org.projectId })).status, 404)
  })

  await t.test('revoking is for editors, works once, and in an archived project too', async () => {
    const shared = await link(w, editor.token, item_id)
    assert.equal((await w.call(viewer.token, 'share.link.revoke', { link_id: shared.id })).status, 403)
    for (const [token, link_id] of [
      [stranger.owner.token, shared.id],
      [editor.token, newId()],
      [editor.token, 'no-uuid'],
      [editor.token, shared.token],
    ] as const) {
      const refused = await w.call(token, 'share.link.revoke', { link_id })
      assert.deepEqual([refused.status, refused.body.detail], [404, 'No such share link'])
    }
    assert.equal((await w.call(null, 'share.link.validate', { token: shared.token, password: PASSWORD })).status, 200)
    await w.ok(org.owner.token, 'projects.archive', { project_id: org.projectId })
    assert.equal((await w.call(editor.token, 'share.link.create', input)).status, 400)
    assert.deepEqual(await w.ok(editor.token, 'share.link.revoke', { link_id: shared.id }), { ok: true, id: shared.id })
    assert.equal((await w.call(editor.token, 'share.link.revoke', { link_id: shared.id })).status, 404)
    assert.equal((await w.call(null, 'share.link.validate', { token: shared.token, password: PASSWORD })).status, 401)
    const listed = await w.ok(editor.token, 'share.links.list', { target_id: item_id, limit: 1 })
    assert.deepEqual([listed.share_links[0].id, listed.share_links[0].revoked_at], [shared.id, w.clock.now().toISOString()])
  })
})

// Goal: a visitor sees the legend of a visualization, the values at a point, and the attribution of the image.
test("'share.tilejson' returns legend, values and attribution", async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { item_id } = await sharedScene(w, org)
  const shared = await link(w, org.owner.token, item_id)
  const { target } = (await w.call(null, 'share.link.validate', { token: shared.token, password: PASSWORD })).body
  const ask = async (more: object) => (await w.call(null, 'share.tilejson', { token: target.grant, ...more })).body
  const ndvi = await ask({ profile: 'ndvi' })
  assert.deepEqual([ndvi.legend.kind, ndvi.legend.low, ndvi.legend.high, ndvi.legend.colors.length], ['scale', -0.2, 1, 16])
  assert.match(ndvi.legend.colors[0], /^#[0-9a-f]{6}$/)
  assert.deepEqual((await ask({ profile: 'cir' })).legend.channels, ['nir', 'red', 'green'])
  const place = { longitude: 151.15, latitude: -33.1 }
  const atPoint = await ask({ profile: 'ndvi', at: place })
  const { results, bands } = await w.ok(org.owner.token, 'items.point', { item_id, profile: 'ndvi', ...place })
  assert.deepEqual([atPoint.visualizations, atPoint.values], [[], [{ name: results[0].expression, value: results[0].value }]])
  const composite = await ask({ profile: 'cir', at: place })
  assert.deepEqual(
    composite.values,
    [4, 3, 2].map((band) => ({ name: bands[band - 1].name, value: bands[band - 1].value })),
  )
  assert.equal((await ask({ at: { longitude: 10, latitude: 10 } })).values, null, 'outside')
  const termsOf = async (properties: object) => {
    await w.ok(org.owner.token, 'items.update', { item_id, properties })
    const { attribution, license } = (await w.call(null, 'share.link.validate', { token: target.grant })).body.target
    return [attribution, license.name, license.url, (await ask({})).attribution]
  }
  const providers = [{ name: 'ESA' }]
  assert.deepEqual(await termsOf({ providers, license: 'CC-BY-4.0' }), ['ESA', 'CC-BY-4.0', null, 'ESA · CC-BY-4.0'])
  const [name, url] = ['Copernicus Sentinel data terms', 'https://licences.example/sentinel']
  assert.deepEqual(
    await termsOf({ providers, license: 'other', 'svc:license_name': name, 'svc:license_url': url }),
    ['ESA', name, url, `ESA · ${name}`],
    'a placeholder is not a licence',
  )
  assert.deepEqual(await termsOf({ license: 'various', 'svc:license_url': 'javascript:alert(1)' }), [null, null, null, undefined])
})

// Goal: a visitor with the password sees the target and nothing of its owner; each opening is counted; a deleted target is 404.
test('share.link.validate', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { item_id } = await sharedScene(w, org, { description: 'Two ferries' })
  const created = await link(w, org.owner.token, item_id)
  const validate = (input: object) => w.call(null, 'share.link.validate', { password: PASSWORD, ...input })

  await t.test('an item', async () => {
    const { status, body, bytes, headers } = await validate({ token: created.token })
    assert.equal(status, 200, bytes.toString())
    assert.deepEqual(Object.keys(body).toSorted(), ['permission', 'target', 'target_type'])
    const { visualizations, grant, grant_expires_at, tilejson, geometry: _geometry, ...target } = body.target
    assert.deepEqual(target, {
      id: item_id,
      name: 'Harbour',
      description: 'Two ferries',
      type: 'user_raster',
      bbox: [151, -34, 152, -33],
      datetime: '2029-05-01T10:00:00.000Z',
      cloud_cover: 3,
      gsd: 10,
      attribution: null,
      license: { name: null, url: null },
      link_expires_at: '2030-01-08T00:00:00.000Z',
    })
    assert.ok(
      visualizations.some((each: { id: string }) => each.id === 'ndvi') &&
        visualizations.filter((each: { is_default: boolean }) => each.is_default).length === 1,
    )
    assert.ok(tilejson.endsWith(`/api/v1/share/tilejson.json?grant=${grant}`))
    assert.equal(grant_expires_at, new Date(w.clock.now().getTime() + 3_600_000).toISOString())
    for (const secret of [org.id, org.projectId, created.token, 'svc-', '$2b$']) assert.ok(!bytes.includes(secret), secret)
    assert.equal(headers.get('cache-control'), 'no-store')
  })

  await t.test('each opening is counted; ten a minute are allowed, and rejected ones do not count', async () => {
    w.clock.advance({ minutes: 2 })
    const answers = await Promise.all(Array.from({ length: 12 }, () => validate({ token: created.token })))
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [...Array(10).fill(200), 429, 429])
    const {
      share_links: [record],
    } = await w.ok(org.owner.token, 'share.links.list', { target_id: item_id })
    assert.deepEqual([record.access_count, record.last_accessed_at], [11, w.clock.now().toISOString()])
    w.clock.advance({ minutes: 1 })
  })

  await t.test('a grant opens the link again without the password, for an hour', async () => {
    const {
      body: {
        target: { grant },
      },
    } = await validate({ token: created.token })
    const again = await w.call(null, 'share.link.validate', { token: grant })
    assert.equal(again.status, 200)
    w.clock.advance({ minutes: 59 })
    const { body } = await w.call(null, 'share.link.validate', { token: grant })
    assert.equal(
      new Date(body.target.grant_expires_at).getTime() - w.clock.now().getTime(),
      60_000,
      'a grant from a grant does not outlive it',
    )
    w.clock.advance({ minutes: 1 })
    assert.equal((await w.call(null, 'share.link.validate', { token: grant })).status, 401)
  })

  await t.test('a collection with its items, newest first; items past retention or deleted are left out', async () => {
    const { id: collection_id } = await w.ok((await w.signIn(org.owner)).token, 'collections.create', {
      project_id: org.projectId,
      name: 'Harbours',
      description: 'All of them',
    })
    const owner = await w.signIn(org.owner)
    const put = async (name: string, datetime: string) =>
      (await w.ok(owner.token, 'items.create', { project_id: org.projectId, collection_id, type: 'user_raster', name, datetime }))
        .id as string
    const [older, newer, gone] = [
      await put('older', '2029-01-01T00:00:00Z'),
      await put('newer', '2029-02-01T00:00:00Z'),
      await put('gone', '2029-03-01T00:00:00Z'),
    ]
    const shared = await link(w, owner.token, collection_id, { target_type: 'collection' })
    await w.ok(owner.token, 'items.update', { item_id: gone, lifecycle_state: 'expired' })
    const { body } = await validate({ token: shared.token })
    assert.deepEqual(
      [body.target_type, body.target.name, body.target.description, body.target.item_count],
      ['collection', 'Harbours', 'All of them', 2],
    )
    assert.deepEqual(
      body.target.items.map((each: { id: string }) => each.id),
      [newer, older],
    )
    assert.equal(body.target.items[0].tilejson, null, 'there is no raster')
    await w.ok(owner.token, 'collections.delete', { project_id: org.projectId, collection_id })
    const after = await validate({ token: shared.token })
    assert.deepEqual([after.status, after.body.detail], [404, 'No such collection'])
  })

  await t.test(
    'right password, but the item is past retention or deleted: 404 on every operation; re-activated, it opens again',
    async () => {
      const owner = await w.signIn(org.owner)
      const every = async () =>
        Promise.all([
          validate({ token: created.token }),
          w.call(null, 'share.tilejson', { token: created.token, password: PASSWORD }),
          w.call(null, 'share.tile.render', { token: created.token, password: PASSWORD, ...INSIDE }),
        ])
      assert.deepEqual(
        (await every()).map(({ status }) => status),
        [200, 200, 200],
      )
      await w.ok(owner.token, 'items.update', { item_id, lifecycle_state: 'expired' })
      assert.deepEqual(
        (await every()).map(({ status, body }) => [status, body?.detail]),
        Array(3).fill([404, 'No such item']),
      )
      await w.ok(owner.token, 'items.update', { item_id, lifecycle_state: 'archived' })
      assert.deepEqual(
        (await every()).map(({ status }) => status),
        [200, 200, 200],
      )
      await w.ok(owner.token, 'items.delete', { item_id })
      assert.deepEqual(
        (await every()).map(({ status }) => status),
        [404, 404, 404],
      )
      assert.equal((await validate({ token: created.token, password: 'wrong password' })).status, 401, 'the password is checked first')
    },
  )
})

// Goal: a map shows a shared item with token and password or with the grant of its TileJSON; tiles are not cached, and count
// as usage of the sharing organization.
test('share.tilejson and share.tile.render', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { item_id } = await sharedScene(w, org)
  const created = await link(w, org.owner.token, item_id)
  const secret = { token: created.token, password: PASSWORD }
  const tile = (input: object = {}, headers: Record<string, string> = {}) =>
    w.call(null, 'share.tile.render', { ...secret, ...INSIDE, ...input }, headers)
  const get = (address: string) =>
    w.request(
      'GET',
      address.replace(w.baseUrl, '').replace('{z}', String(INSIDE.z)).replace('{x}', String(INSIDE.x)).replace('{y}', String(INSIDE.y)),
    )

  await t.test('formats, visualizations and ETags', async () => {
    for (const [input, type] of [
      [{}, 'image/png'],
      [{ format: 'webp' }, 'image/webp'],
      [{ format: 'jpeg' }, 'image/jpeg'],
    ] as const) {
      const response = await tile(input)
      assert.deepEqual(
        [response.status, response.headers.get('content-type'), response.headers.get('cache-control')],
        [200, type, 'private, no-store'],
      )
    }
    const [plain, ndvi] = [await tile(), await tile({ profile: 'ndvi' })]
    assert.notDeepEqual(plain.bytes, ndvi.bytes)
    const again = await tile({ profile: 'ndvi' }, { 'if-none-match': ndvi.headers.get('etag')! })
    assert.deepEqual([again.status, again.bytes.length], [304, 0])
    const own = await w.call(org.owner.token, 'items.tile.render', { item_id, ...INSIDE, format: 'png', profile: 'ndvi' })
    assert.deepEqual(ndvi.bytes, own.bytes, 'the same pixels as for its owner')
    assert.equal((await sharp((await tile({ tile_size: 512 })).bytes).metadata()).width, 512)
    for (const [input, status] of [
      [{ x: 2 ** 12 }, 422],
      [{ z: 25 }, 422],
      [{ format: 'gif' }, 422],
      [{ profile: 'lava' }, 422],
      [{ profile: newId() }, 404],
      [{ bands: '1,2,3' }, 422],
    ] as const)
      assert.equal((await tile(input)).status, status, JSON.stringify(input))
  })

  await t.test('the TileJSON has a grant for GET tiles in its visualization, until the link is revoked', async () => {
    const { status, body } = await w.call(null, 'share.tilejson', { ...secret, profile: 'ndvi' })
    assert.equal(status, 200)
    assert.ok(body.tilejson === '3.0.0' && body.minzoom < body.maxzoom && body.bounds.length === 4)
    assert.ok(body.visualizations.some((each: { id: string }) => each.id === 'ndvi'))
    const [template] = body.tiles as [string]
    assert.ok(!template.includes(created.token) && !template.includes(PASSWORD))
    const drawn = await get(template)
    assert.deepEqual(
      [drawn.status, drawn.headers.get('content-type'), drawn.headers.get('cache-control')],
      [200, 'image/webp', 'private, no-store'],
    )
    assert.deepEqual(drawn.bytes, (await tile({ format: 'webp', profile: 'ndvi' })).bytes)
    assert.equal((await sharp((await get(template.replace('.webp', '@2x.webp'))).bytes).metadata()).width, 512)
    for (const bad of [
      template.replace('grant=', 'grant=x'),
      template.replace(/grant=[^&]*/, ''),
      template.replace(/grant=[^&]*/, `grant=${created.token}`),
    ])
      assert.equal((await get(bad)).status, 401, bad)
    assert.equal((await get(template.replace('.webp', '.gif'))).status, 404)
    const grant = /grant=([^&]*)/.exec(template)![1]!
    for (const [url, reason] of [
      [`${template}&colormap_name=viridis`, '; use profile, grant'],
      [`${template}&profil=ndvi`, "did you mean 'profile'?"],
      [`/api/v1/share/tilejson.json?grant=${grant}&profil=ndvi`, "did you mean 'profile'?"],
      [`/api/v1/share/assets/any?grants=${grant}`, "did you mean 'grant'?"],
    ] as const) {
      const { status, body: refused } = await get(url)
      assert.deepEqual([status, refused.code], [400, 'bad-request'], url)
      assert.ok(refused.detail.includes(reason), refused.detail)
    }
    assert.equal((await get(`${template}&_=1`)).status, 200, 'map programs add it to get past caches')
    await w.ok(org.owner.token, 'share.link.revoke', { link_id: created.id })
    assert.deepEqual([(await get(template)).status, (await tile()).status], [401, 401])
  })

  await t.test('a collection link has no tiles; its items have, with their own grants, while they are in it', async () => {
    const { id: collection_id } = await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name: 'Harbours' })
    await w.ok(org.owner.token, 'items.update', { item_id, collection_id })
    const shared = { token: (await link(w, org.owner.token, collection_id, { target_type: 'collection' })).token, password: PASSWORD }
    for (const id of ['share.tilejson', 'share.tile.render']) {
      const place = id === 'share.tilejson' ? {} : INSIDE
      assert.equal((await w.call(null, id, { ...shared, ...place })).status, 400, id)
      assert.equal(
        (await w.call(null, id, { ...shared, ...place, password: 'wrong password' })).status,
        401,
        `${id}: the password comes first`,
      )
    }
    const {
      body: { target },
    } = await w.call(null, 'share.link.validate', shared)
    const { body: document } = await get(target.items[0].tilejson)
    assert.equal((await get(document.tiles[0])).status, 200)
    const grant = new URL(target.items[0].tilejson).searchParams.get('grant')!
    assert.equal((await w.call(null, 'share.link.validate', { token: grant })).status, 400, 'it opens its item alone')
    await w.ok(org.owner.token, 'items.update', { item_id, collection_id: null })
    assert.equal((await get(document.tiles[0])).status, 404)
  })

  await t.test('calls and tiles count as usage of the sharing organization', async () => {
    const fresh = { token: (await link(w, org.owner.token, item_id)).token, password: PASSWORD }
    const meters = async () => {
      await w.flushUsage()
      await w.flushAudit()
      const rows = await w.db.selectFrom('usage_day').select(['meter', 'amount']).where('org_id', '=', org.id).execute()
      const audited = await w.db
        .selectFrom('audit')
        .select((e) => e.fn.sum<number>('calls').as('count'))
        .where('org_id', '=', org.id)
        .where('principal_kind', '=', 'anonymous')
        .executeTakeFirstOrThrow()
      return [...['tiles', 'api_calls'].map((meter) => rows.find((row) => row.meter === meter)?.amount ?? 0), Number(audited.count)]
    }
    const before = await meters()
    for (let i = 0; i < 3; i++) assert.equal((await tile(fresh)).status, 200)
    assert.equal((await w.call(null, 'share.tilejson', fresh)).status, 200)
    const after = await meters()
    assert.deepEqual(
      after.map((amount, index) => amount - before[index]!),
      [3, 4, 4],
    )
    assert.equal((await tile({ ...fresh, password: 'wrong password' })).status, 401)
    assert.deepEqual(await meters(), after, 'a rejected visitor does not count')
  })
})

// Goal: files are downloaded only with a link that permits it, and count for the sharing organization when downloaded, not when listed.
test('share.asset.download', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { item_id, asset_id } = await sharedScene(w, org)
  const other = await sharedScene(w, org)
  const [view, download] = [await link(w, org.owner.token, item_id), await link(w, org.owner.token, item_id, { permission: 'download' })]
  const open = async (token: string) => (await w.call(null, 'share.link.validate', { token, password: PASSWORD })).body.target
  const taken = async () =>
    await w.db.selectFrom('egress_log').select(['kind', 'asset_id', 'bytes', 'principal_kind']).where('org_id', '=', org.id).execute()
  const { file_size_bytes } = await w.db.selectFrom('asset').select('file_size_bytes').where('id', '=', asset_id).executeTakeFirstOrThrow()

  await t.test('a view-only link lists no files and downloads none', async () => {
    assert.ok(!('assets' in (await open(view.token))))
    assert.equal((await w.call(null, 'share.asset.download', { token: view.token, password: PASSWORD, asset_id })).status, 403)
  })

  const {
    assets: [file],
  } = await open(download.token)
  await t.test('a download link lists files with URLs for 15 minutes; listing is free, downloads count', async () => {
    assert.deepEqual(
      [file.id, file.file_name, file.file_size_bytes, file.url_expires_at],
      [asset_id, 'Harbour.tif', file_size_bytes, new Date(w.clock.now().getTime() + 900_000).toISOString()],
    )
    assert.deepEqual(await taken(), [])
    const followed = await w.request('GET', file.url.replace(w.baseUrl, ''))
    assert.deepEqual([followed.status, followed.headers.get('cache-control')], [302, 'private, no-store'])
    assert.match(followed.headers.get('location')!, /assets\/.*signature/i)
    assert.deepEqual(await taken(), [{ kind: 'share', asset_id, bytes: file_size_bytes, principal_kind: 'anonymous' }])
    const by = await w.call(null, 'share.asset.download', { token: download.token, password: PASSWORD, asset_id })
    assert.deepEqual([by.status, by.body.expires_in_seconds, by.body.size_bytes], [200, 900, file_size_bytes])
  })

  await t.test('not another file, not with another grant, not for longer, not after expiry', async () => {
    const grant = new URL(file.url).searchParams.get('grant')!
    const { grant: whole } = await open(download.token)
    assert.equal((await w.call(null, 'share.asset.download', { token: whole, asset_id: other.asset_id })).status, 404)
    assert.equal((await w.request('GET', `/api/v1/share/assets/${other.asset_id}?grant=${grant}`)).status, 403)
    assert.equal((await w.call(null, 'share.tile.render', { token: grant, ...INSIDE })).status, 400)
    const before = (await taken()).length
    w.clock.advance({ minutes: 15 })
    assert.equal((await w.request('GET', file.url.replace(w.baseUrl, ''))).status, 401)
    const owner = await w.signIn(org.owner)
    const {
      assets: [fresh],
    } = await open(download.token)
    await w.ok(owner.token, 'share.link.revoke', { link_id: download.id })
    assert.equal((await w.request('GET', fresh.url.replace(w.baseUrl, ''))).status, 401)
    assert.equal((await taken()).length, before)
  })
})

// Goal: the share page admits any number of visitors with the right password, rate limits wrong ones, and reveals nothing else.
test('sign-in of the share page', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { item_id } = await sharedScene(w, org)
  const { token } = await link(w, org.owner.token, item_id)
  const enter = (password: string, at = token) => w.post(`/s/${at}`, { password })

  await t.test('many visitors are never rejected, and each gets a grant for the link', async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, () => enter(PASSWORD)))
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
    const opened = await w.post('/v1/op/share.link.validate', { token: answers[39]!.body.grant })
    assert.deepEqual([opened.status, opened.body.target.id], [200, item_id])
    assert.equal(answers[0]!.headers.get('cache-control'), 'no-store')
  })

  await t.test('wrong passwords count, also for unknown links; then the right one has to wait', async () => {
    for (const at of [token, 'shr_nothing']) {
      const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => enter(`wrong ${n}`, at)))
      const statuses = answers.map(({ status }) => status).toSorted()
      assert.deepEqual(statuses, [...Array(10).fill(401), 429, 429])
    }
    w.clock.advance({ minutes: 2 })
    assert.equal((await enter(PASSWORD)).status, 200)
    assert.equal((await w.post(`/s/${token}`, { password: 1 })).status, 422)
  })
})
