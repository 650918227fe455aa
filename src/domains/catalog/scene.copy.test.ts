import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import * as runs from '#model/processing/run.ts'
import { moneyViolations } from '../../../test/money/invariants.ts'
import { INSIDE, OPEN_HOST, openHost } from '../../../test/support/open-host.ts'
import { world } from '../../../test/support/world.ts'
import resume from '../processing/resume.task.ts'
import run from '../processing/run.task.ts'

// Goal: a copy has the host's bytes, or their part in an area, as one item with a file per band; whoever kills, breaks or cancels it, there
// is one complete item or none, the price is right, and storage is counted.
test('catalog.scene.copy', async (t) => {
  const host = await openHost(t)
  const w = await world(t, { sources: host.sources })
  const org = await w.organization()
  const { token } = org.owner
  await w.ok(await w.serviceToken(), 'billing.credits.grant', { organization_id: org.id, credits: 1_000, reason: 'for a test' })
  let count = 0
  const publish = async (more: object = {}) => {
    const id = `scene-${++count}`
    await host.publish({ id, datetime: '2029-12-01T00:00:00.000Z', cloudCover: 2, ...more })
    return id
  }
  const copy = (id: string, more: object = {}, as = token) =>
    w.call(as, 'catalog.scene.copy', { host_name: OPEN_HOST, id, project_id: org.projectId, ...more })
  const jobOf = async (id: string) => (await w.ok(token, 'processing.job.get', { job_id: id })).job
  const available = async () => (await w.ok(token, 'billing.credits.balance')).available_credits
  const project = async () => {
    const { item_count, storage_bytes } = await w.ok(token, 'projects.get', { project_id: org.projectId })
    return [item_count, storage_bytes]
  }
  const assetsOf = async (item_id: string) => w.ok(token, 'items.list_assets', { item_id })

  await t.test('whole files are free, unchanged, and count as storage', async () => {
    const before = await available()
    const id = await publish()
    const { status, body } = await copy(id)
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual([body.created, body.job.reserved_credits, body.job.status], [true, 0, 'dispatched'])
    await w.drain(run)
    const job = await jobOf(body.job.id)
    assert.deepEqual([job.status, job.captured_credits, job.error], ['completed', 0, null])
    const { item } = await w.ok(token, 'items.get', { item_id: job.output_item_ids[0] })
    assert.deepEqual([item.stac_id, item.type, item.cloud_cover, item.job_id], [id, 'satellite_capture', 2, job.id])
    assert.deepEqual([item.properties.license, item.properties.attribution], ['CC-BY-4.0', 'Test agency'])
    const stac = await w.ok(token, 'items.get_stac', { item_id: item.id })
    const links = stac.links.filter(({ rel }: { rel: string }) => ['derived_from', 'license'].includes(rel))
    assert.deepEqual(
      links.map(({ rel, href }: { rel: string; href: string }) => [rel, new URL(href).pathname]),
      [
        ['derived_from', `/collections/test-bands/items/${id}`],
        ['license', '/cc-by'],
      ],
    )
    const assets = await assetsOf(item.id)
    assert.deepEqual(
      assets.map(({ key, band_names }: { key: string; band_names: string[] }) => [key, band_names]),
      [
        ['red', ['red']],
        ['nir', ['nir']],
      ],
    )
    const bytes = assets.reduce((sum: number, asset: { file_size_bytes: number }) => sum + asset.file_size_bytes, 0)
    assert.deepEqual(await project(), [1, bytes])
    assert.equal(await available(), before)
    const stored = await w.db.selectFrom('asset').select(['sha256', 'key']).where('key', '=', 'red').executeTakeFirstOrThrow()
    const original = await globalThis.fetch(String((await w.ok(token, 'catalog.item.get', { host_name: OPEN_HOST, id })).assets.red.href))
    assert.equal(
      stored.sha256!.toString('hex'),
      createHash('sha256')
        .update(Buffer.from(await original.arrayBuffer()))
        .digest('hex'),
    )
  })

  await t.test('copied again, it is the same job; other files or areas are another; a deleted item can be copied again', async () => {
    const again = (await copy('scene-1')).body
    assert.equal(again.created, false)
    const other = (await copy('scene-1', { assets: ['red'] })).body
    assert.equal(other.created, true)
    assert.notEqual(other.job.id, again.job.id)
    await w.drain(run)
    await w.ok(token, 'items.delete', { item_id: (await jobOf(other.job.id)).output_item_ids[0] })
    assert.equal((await copy('scene-1', { assets: ['red'] })).body.created, true)
    await w.drain(run)
    const id = await publish()
    const concurrent = await Promise.all(Array.from({ length: 6 }, () => copy(id)))
    assert.equal(new Set(concurrent.map(({ body }) => body.job.id)).size, 1)
    await w.drain(run)
  })

  await t.test('clipped to an area it costs what a clip costs, and the estimate says so', async () => {
    const id = await publish()
    const before = await available()
    const inputs = { host_name: OPEN_HOST, scene_id: id, geometry: INSIDE }
    const { credits } = await w.ok(token, 'processing.catalog.estimate', { process_id: 'scene_copy', inputs })
    const { job } = (await copy(id, { area: INSIDE, name: 'Field' })).body
    assert.deepEqual([job.reserved_credits, credits], [5, 5])
    await w.drain(run)
    const done = await jobOf(job.id)
    assert.deepEqual([done.status, done.captured_credits], ['completed', 5], done.error)
    assert.equal(await available(), before - 5)
    const { item } = await w.ok(token, 'items.get', { item_id: done.output_item_ids[0] })
    assert.deepEqual([item.name, item.type], ['Field', 'clip'])
    const [west, south, east, north] = item.bbox
    assert.ok(west > 151.01 && south > -33.09 && east < 151.09 && north < -33.01, item.bbox)
    assert.equal((await assetsOf(item.id)).length, 2)
  })

  await t.test('a transfer that breaks off is resumed where it broke', async () => {
    const id = await publish()
    host.transfers.length = 0
    host.script.breaksAt = [1_000, 2_000]
    const { job } = (await copy(id, { assets: ['red'] })).body
    await w.drain(run)
    assert.equal((await jobOf(job.id)).status, 'completed')
    assert.deepEqual(host.transfers, [0, 1_000, 3_000])
  })

  await t.test('a run that was killed is repeated, and creates one item', async () => {
    const id = await publish()
    const { job } = (await copy(id)).body
    const [items] = await project()
    await w.db.transaction().execute((tx) => runs.begin(tx, job.id, w.clock.now())) // A process that died right after this.
    w.clock.advance({ minutes: 10 })
    await w.runTask(resume)
    await w.drain(run)
    assert.equal((await jobOf(job.id)).status, 'completed')
    assert.equal((await project())[0], items! + 1)
  })

  await t.test('a cancelled copy stops, releases everything, and can be started again', async () => {
    const id = await publish()
    const before = [await available(), await project()]
    const { job } = (await copy(id, { area: INSIDE })).body
    await w.ok(token, 'processing.job.cancel', { job_id: job.id })
    await w.drain(run)
    assert.deepEqual([await available(), await project()], before)
    assert.equal((await copy(id, { area: INSIDE })).body.created, true)
    await w.drain(run)
  })

  await t.test('a file that is not what the catalogue states fails the job and stores nothing', async () => {
    const before = await project()
    for (const [fields, reason] of [
      [{ 'file:size': 7 }, /the catalogue states 7/],
      [{ 'file:checksum': `1220${'0'.repeat(64)}` }, /checksum/],
    ] as const) {
      const { job } = (await copy(await publish({ fields }))).body
      await w.drain(run)
      const failed = await jobOf(job.id)
      assert.equal(failed.status, 'failed')
      assert.match(failed.error, reason)
    }
    assert.deepEqual(await project(), before)
  })

  await t.test('a file that cannot be read is named, before and during the copy, and nothing is stored', async () => {
    const before = [await available(), await project()]
    const id = await publish()
    for (const status of [404, 403]) {
      host.script.fileStatus = { [`${id}-nir.tif`]: status }
      const refused = await copy(id)
      assert.equal(refused.status, 422, refused.bytes.toString())
      assert.match(JSON.stringify(refused.body), new RegExp(`The asset 'nir' cannot be read: .*status ${status}`))
    }
    host.script.fileStatus = {}
    const { job } = (await copy(id)).body
    host.script.beforeFile = async () => void (host.script.fileStatus[`${id}-nir.tif`] = 404)
    await w.drain(run)
    const failed = await jobOf(job.id)
    assert.equal(failed.status, 'failed')
    assert.match(failed.error, /The (asset|file) 'nir' cannot be (read|copied)/)
    delete host.script.beforeFile
    host.script.fileStatus = {}
    assert.deepEqual([await available(), await project()], before)
  })

  await t.test('a file outside the allowed hosts is left out, and refused by name', async () => {
    const id = await publish({ hrefs: { nir: 'https://elsewhere.example/nir.tif' } })
    const refused = await copy(id, { assets: ['nir'] })
    assert.equal(refused.status, 422)
    assert.match(refused.body.detail, /'nir' is not a readable raster of this scene; available: red/)
    const saved = await w.call(token, 'catalog.scene.save', { host_name: OPEN_HOST, id, project_id: org.projectId, assets: ['nir'] })
    assert.equal(saved.status, 422, saved.bytes.toString())
    assert.match(saved.body.detail, /available: red/)
  })

  await t.test('what cannot be copied is refused before anything is reserved', async () => {
    const before = await available()
    const id = await publish()
    const closed = await publish({ properties: { license: 'proprietary' } })
    const elsewhere = { type: 'Polygon', coordinates: [[[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]] } // prettier-ignore
    const viewer = await w.member(org, 'viewer')
    const refusals: [number, object, RegExp, string?][] = [
      [400, { host_name: 'sandbox-vhr' }, /orders\.archive\.place/],
      [400, { id: closed }, /not openly licensed/],
      [404, { id: 'nothing' }, /scene/],
      [400, { area: elsewhere }, /overlap|outside|intersect/],
      [422, { assets: ['blue'] }, /available: red, nir/],
      [403, {}, /denied/, viewer.token],
    ]
    for (const [status, more, pattern, as] of refusals) {
      const answer = await copy(id, more, as)
      assert.equal(answer.status, status, `${JSON.stringify(more)}: ${answer.bytes}`)
      assert.match(answer.body.detail, pattern)
    }
    const direct = await w.call(token, 'processing.create', {
      project_id: org.projectId,
      job_type_id: 'scene_copy',
      input_params: { host_name: OPEN_HOST, scene_id: id },
    })
    assert.equal(direct.status, 400)
    assert.match(direct.body.detail, /catalog\.scene\.copy/)
    assert.equal(await available(), before)
  })

  await t.test('a full storage quota refuses the copy', async () => {
    const id = await publish()
    await w.db
      .updateTable('storage_account')
      .set({ used_bytes: 10 * 1024 ** 3 - 1_000 })
      .where('org_id', '=', org.id)
      .execute()
    assert.equal((await copy(id)).status, 402)
  })
  assert.deepEqual(await moneyViolations(w.db), [])
})
