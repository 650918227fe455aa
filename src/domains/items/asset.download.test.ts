import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '#core/ids.ts'
import { fileNameOf } from '#model/imagery/asset.ts'
import { storeFile } from '../../../test/support/stored-file.ts'
import { world, type Org } from '../../../test/support/world.ts'

const GIB = 1024 ** 3

// Goal: everyone who can read an item can download its files through signed URLs, within the limits of the plan, which are exact
// to the byte under concurrency.
test('items.asset.download', async (t) => {
  const w = await world(t, { egressAllow: ['data.example'] })
  const scene = async (org: Org, claimedSize?: number, more: object = {}) => {
    const { id: item_id } = await w.ok(org.owner.token, 'items.create', {
      project_id: org.projectId,
      type: 'user_raster',
      name: 'Reef, März/April',
      ...more,
    })
    const asset_id = await storeFile(w, item_id, { bytes: Buffer.from('pixels'), ...(claimedSize === undefined ? {} : { claimedSize }) })
    return { item_id, asset_id }
  }
  const meter = async (org: Org) =>
    (
      await w.db
        .selectFrom('usage_day')
        .select('amount')
        .where('org_id', '=', org.id)
        .where('meter', '=', 'egress_bytes')
        .executeTakeFirst()
    )?.amount ?? 0
  /** The sizes are far above the storage of a free plan, which does not matter here. */
  const big = async (org: Org, bytes: number) => {
    const file = await scene(org)
    await w.db.updateTable('asset').set({ file_size_bytes: bytes }).where('id', '=', file.asset_id).execute()
    return file
  }

  await t.test('a signed URL with a proper file name; the download is counted, logged and an access of the item', async () => {
    const org = await w.organization()
    const { item_id, asset_id } = await scene(org)
    const viewer = await w.member(org)
    const { url, ...rest } = await w.ok(viewer.token, 'items.asset.download', { item_id, asset_id })
    assert.deepEqual(rest, { expires_in_seconds: 900, asset_id, size_bytes: 6, media_type: 'image/tiff' })
    assert.match(decodeURIComponent(url), /Reef, März_April\.tif/)
    assert.deepEqual(
      await w.ok(viewer.token, 'items.asset.download', { item_id, asset_id: 'data' }).then((again) => again.asset_id),
      asset_id,
      'by its key too',
    )
    assert.equal(await meter(org), 12)
    const log = await w.db.selectFrom('egress_log').selectAll().where('org_id', '=', org.id).execute()
    assert.deepEqual(
      log.map((row) => [row.kind, row.item_id, row.asset_id, row.bytes, row.user_id]),
      Array(2).fill(['asset', item_id, asset_id, 6, viewer.id]),
    )
    await w.flushUsage()
    const row = await w.db.selectFrom('item').select('last_accessed_at').where('id', '=', item_id).executeTakeFirstOrThrow()
    assert.deepEqual(row.last_accessed_at, w.clock.now())
  })

  await t.test('files are named after their item, with the extension of their type', () => {
    const named = (name: string, key = 'data', mediaType: string | null = 'image/tiff; application=geotiff', objectKey = 'a/b.bin') =>
      fileNameOf({ key, mediaType, objectKey }, name)
    assert.deepEqual(
      ['Reef', 'Reef.tif', 'Reef.TIFF', 'a/b\\c', '.tif'].map((name) => named(name)),
      ['Reef.tif', 'Reef.tif', 'Reef.tif', 'a_b_c.tif', '.tif'],
    )
    assert.deepEqual(
      [
        named('Reef', 'thumb/nail', 'image/jpeg'),
        named('Reef.jpeg', 'data', 'image/jpeg'),
        named('Reef', 'x', null, 'a/b.laz'),
        named('Reef', 'x', 'application/octet-stream', 'a/b'),
      ],
      ['Reef thumb_nail.jpg', 'Reef.jpg', 'Reef x.laz', 'Reef x'],
    )
  })

  await t.test('unknown: 404; expired or deleted: 410; other organizations: 404', async () => {
    const org = await w.organization()
    const { owner } = org
    const stranger = await w.organization()
    const { item_id, asset_id } = await scene(org)
    const other = await scene(org)
    const download = (input: object, token = owner.token) => w.call(token, 'items.asset.download', { item_id, asset_id, ...input })
    for (const input of [{ asset_id: newId() }, { asset_id: other.asset_id }, { asset_id: 'nothing' }, { item_id: 'nothing' }])
      assert.equal((await download(input)).status, 404)
    const missing = await download({ item_id: 'nothing' })
    for (const lifecycle_state of ['expiring', 'archived', 'active']) {
      await w.ok(owner.token, 'items.update', { item_id, lifecycle_state })
      assert.equal((await download({})).status, 200, lifecycle_state)
    }
    await w.ok(owner.token, 'items.update', { item_id, lifecycle_state: 'expired' })
    const expired = await download({})
    assert.deepEqual([expired.status, expired.body.title, expired.body.code], [410, 'Gone', 'gone'])
    await w.ok(owner.token, 'items.delete', { item_id })
    assert.equal((await download({})).status, 410)
    await w.ok(owner.token, 'projects.delete', { project_id: org.projectId })
    assert.equal((await download({ ...other })).status, 410, 'deleted with its project')
    const foreign = await download({}, stranger.owner.token)
    assert.deepEqual({ ...foreign.body, instance: '' }, { ...missing.body, instance: '' })
    const before = await meter(org)
    assert.equal(before, 18, 'only signed URLs count')
  })

  await t.test('a file by reference returns its own URL and counts no bytes', async () => {
    const { owner, projectId, id } = await w.organization()
    const { id: item_id } = await w.ok(owner.token, 'items.create', {
      project_id: projectId,
      type: 'external_reference',
      name: 'n',
      assets: [{ key: 'data', href: 'https://data.example/a.tif', media_type: 'image/tiff' }],
    })
    const [{ id: asset_id }] = await w.ok(owner.token, 'items.list_assets', { item_id })
    const download = await w.ok(owner.token, 'items.asset.download', { item_id, asset_id })
    assert.deepEqual(download, {
      url: 'https://data.example/a.tif',
      expires_in_seconds: 900,
      asset_id,
      size_bytes: null,
      media_type: 'image/tiff',
    })
    assert.equal((await w.db.selectFrom('egress_log').select('bytes').where('org_id', '=', id).execute())[0]!.bytes, 0)
    await w.db
      .updateTable('egress_account')
      .set({ paused_until: new Date('2040-01-01T00:00:00Z') })
      .where('org_id', '=', id)
      .execute()
    assert.equal(
      (await w.call(owner.token, 'items.asset.download', { item_id, asset_id })).status,
      200,
      'nor does a pause of downloads affect it',
    )
  })

  await t.test('an unpaid invoice stops downloads', async () => {
    const org = await w.organization()
    const files = await scene(org)
    const now = w.clock.now()
    const invoice = {
      id: newId(),
      org_id: org.id,
      number: 'INV-7',
      period: '2029-11',
      status: 'past_due' as const,
      lines: '[]',
      commitments: '[]',
      subtotal_cents: 100,
      gst_cents: 10,
      total_cents: 110,
      due_cents: 110,
      customer: '{}',
      issued_at: now,
      due_at: now,
    }
    await w.db.insertInto('invoice').values(invoice).execute()
    const refused = await w.call(org.owner.token, 'items.asset.download', files)
    assert.deepEqual([refused.status, refused.body.title], [402, 'Subscription Past Due'])
    assert.match(refused.body.detail, /INV-7/)
    await w.db.updateTable('invoice').set({ status: 'paid', paid_at: now }).where('id', '=', invoice.id).execute()
    assert.equal((await w.call(org.owner.token, 'items.asset.download', files)).status, 200)
  })

  await t.test('the free plan allows 20 GiB per day; Retry-After tells when the oldest minute leaves the window', async () => {
    const org = await w.organization()
    const { key } = await w.key(org.owner.token)
    const [four, large, over] = [await big(org, 4 * GIB), await big(org, 3 * GIB), await big(org, 21 * GIB)]
    const take = (files: object) => w.call(key, 'items.asset.download', files)
    for (let hour = 0; hour < 4; hour++) {
      assert.equal((await take(four)).status, 200)
      w.clock.advance({ hours: 1 })
    }
    assert.equal((await take(large)).status, 200)
    const refused = await take(large)
    assert.deepEqual(
      [refused.status, refused.body.code, refused.body.used, refused.body.limit],
      [429, 'egress-limited', 19 * GIB, 20 * GIB],
    )
    const seconds = Number(refused.headers.get('retry-after'))
    assert.ok(seconds > 20 * 3600 - 120 && seconds <= 20 * 3600 + 60, String(seconds))
    assert.equal((await take(over)).status, 429)
    w.clock.advance({ seconds: seconds - 60 })
    assert.equal((await take(large)).status, 429)
    w.clock.advance({ seconds: 60 })
    assert.equal((await take(large)).status, 200)
  })

  await t.test('a quarter of the daily quota within ten minutes pauses downloads for fifteen', async () => {
    const org = await w.organization()
    const { key } = await w.key(org.owner.token)
    const [large, small] = [await big(org, 3 * GIB), await big(org, GIB)]
    const take = (files: object) => w.call(key, 'items.asset.download', files)
    assert.equal((await take(large)).status, 200)
    assert.equal((await take(large)).status, 200, 'the download that exceeds the quarter is still allowed')
    const refused = await take(small)
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '900'])
    w.clock.advance({ minutes: 14, seconds: 59 })
    assert.equal((await take(small)).status, 429)
    w.clock.advance({ seconds: 1 })
    assert.equal((await take(small)).status, 200)
  })

  await t.test('200 concurrent downloads: 120 start per minute; of large files exactly as many as fit the day', async () => {
    const org = await w.organization()
    const { key } = await w.key(org.owner.token)
    const small = await scene(org)
    const many = await Promise.all(Array.from({ length: 200 }, () => w.call(key, 'items.asset.download', small)))
    assert.equal(many.filter(({ status }) => status === 200).length, 120)
    assert.ok(many.every(({ status, headers }) => status === 200 || (status === 429 && Number(headers.get('retry-after')) <= 60)))
    assert.equal(await meter(org), 120 * 6)
    const second = await w.organization()
    const keyOfSecond = (await w.key(second.owner.token)).key
    const file = await big(second, 5 * GIB)
    const large = await Promise.all(Array.from({ length: 40 }, () => w.call(keyOfSecond, 'items.asset.download', file)))
    assert.equal(large.filter(({ status }) => status === 200).length, 2, 'the second exceeds the quarter and pauses the rest')
    assert.equal(await meter(second), 10 * GIB)
  })

  await t.test('the URL in assets[].href redirects, with a key in the header or in the URL, and counts the same', async () => {
    const org = await w.organization()
    const { key } = await w.key(org.owner.token)
    const { item_id } = await scene(org)
    const [{ href }] = await w.ok(key, 'items.list_assets', { item_id })
    const path = href.slice(w.baseUrl.length)
    assert.equal((await w.request('GET', path)).status, 401)
    for (const response of [
      await w.request('GET', path, { headers: { authorization: `Bearer ${key}` } }),
      await w.request('GET', `${path}?key=${key}`),
    ]) {
      assert.equal(response.status, 302)
      assert.match(response.headers.get('location')!, /^http:\/\/127\.0\.0\.1:/)
      assert.deepEqual([response.headers.get('cache-control'), response.bytes.length], ['private, max-age=600', 0])
    }
    assert.equal(await meter(org), 12)
    const missing = await w.request('GET', `${path}x?key=${key}`)
    assert.deepEqual([missing.status, missing.body.code], [404, 'not-found'])
    const posted = await w.request('POST', path, { headers: { authorization: `Bearer ${key}` } })
    assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET'])
    await w.flushAudit()
    const audited = await w.db
      .selectFrom('audit')
      .select('status')
      .where('org_id', '=', org.id)
      .where('operation', '=', 'items.asset.download')
      .execute()
    assert.deepEqual(audited.map(({ status }) => status).toSorted(), [200, 200, 404])
  })
})
