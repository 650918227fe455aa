import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import clear from '#domains/uploads/clear.task.ts'
import convert from '#domains/uploads/convert.task.ts'
import { campaign, everyNth } from './support/campaign.ts'
import { fileHost } from './support/ranges.ts'
import { world, type World } from './support/world.ts'

const FOLDER = path.join(import.meta.dirname, '../../shared/data/hostile-tiffs')
const AREA = {
  type: 'Polygon',
  coordinates: [
    [
      [-179, -80],
      [179, -80],
      [179, 80],
      [-179, 80],
      [-179, -80],
    ],
  ],
}

// Goal: whatever bytes a URL returns, the caller gets an image or a typed error, and the service is unaffected.
test(
  'hostile TIFFs through the service',
  { skip: existsSync(FOLDER) ? false : 'the corpus of hostile files is not beside this checkout' },
  async (t) => {
    const files = await fileHost(t)
    const w = await world(t, { egressAllow: [files.host] })
    const { owner } = await w.organization()
    const names = readdirSync(FOLDER).filter((name) => name.endsWith('.tif'))
    assert.ok(names.length > 50)
    const seen = new Map<number, number>()
    for (const name of everyNth(names, campaign({ short: 4, long: 1 }))) {
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
    const { images } = w.platform.services.raster.metrics().pools
    t.diagnostic(
      `${names.length} files: ${[...seen].map(([status, count]) => `${count} x ${status}`).join(', ')}; children ended ` +
        `by force: ${images.timedOut + images.outOfMemory}`,
    )
    assert.equal(images.crashed, 0)
    assert.equal((await w.request('GET', '/health')).status, 200)
  },
)

// Goal: whatever bytes are uploaded, completion gives an item or a typed error; later failures have a reason and leave nothing.
test(
  'hostile TIFFs as uploads',
  { skip: existsSync(FOLDER) ? false : 'the corpus of hostile files is not beside this checkout' },
  async (t) => {
    const w = await world(t)
    const org = await w.organization()
    const { key } = await w.key(org.owner.token, ['write'])
    const outcomes = new Map<string, number>()
    const count = (outcome: string) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    const names = readdirSync(FOLDER).filter((file) => file.endsWith('.tif'))
    for (const name of everyNth(names, campaign({ short: 4, long: 1 }))) {
      const { status, body } = await w.upload(key, org.projectId, { [name]: readFileSync(path.join(FOLDER, name)) })
      if (status === 422) {
        assert.match(body.detail, new RegExp(`^${name}: [A-Z]`))
        count(body.code === 'position-required' ? 'lacks a position' : 'refused')
        // A file that only lacks a position is kept for another completion, so its session has to be ended.
        if (body.code === 'position-required') await abandon(w, key, org.projectId)
        continue
      }
      assert.equal(status, 200, `${name}: ${JSON.stringify(body)}`)
      await w.drain(convert)
      const {
        files: [file],
      } = await w.ok(key, 'uploads.progress', { upload_id: body.id })
      assert.ok(file.state === 'ready' || (file.state === 'failed' && file.error.length > 20), `${name}: ${JSON.stringify(file)}`)
      count(file.state === 'ready' ? 'taken' : 'failed in its conversion')
    }
    t.diagnostic([...outcomes].map(([outcome, files]) => `${files} ${outcome}`).join(', '))
    assert.ok(outcomes.get('refused')! > campaign({ short: 5, long: 20 }))
    await w.drain(clear)
    const { bucket_name: bucket } = await w.db
      .selectFrom('project')
      .select('bucket_name')
      .where('id', '=', org.projectId)
      .executeTakeFirstOrThrow()
    const owned = await w.db
      .selectFrom('asset as a')
      .innerJoin('item as i', 'i.seq', 'a.item_seq')
      .select(['a.object_key', 'a.file_size_bytes'])
      .where('i.deleted_at', 'is', null)
      .execute()
    assert.deepEqual(
      (await w.storage.list(bucket!)).objects.map((object) => object.key).toSorted(),
      owned.map((row) => row.object_key!).toSorted(),
    )
    const { used_bytes: used, reserved_bytes: reserved } = await w.db
      .selectFrom('storage_account')
      .select(['used_bytes', 'reserved_bytes'])
      .where('org_id', '=', org.id)
      .executeTakeFirstOrThrow()
    assert.deepEqual([used, reserved], [owned.reduce((sum, row) => sum + row.file_size_bytes!, 0), 0])
  },
)

async function abandon(w: World, key: string, projectId: string): Promise<void> {
  const { uploads } = await w.ok(key, 'uploads.list', { project_id: projectId })
  await w.ok(key, 'uploads.fail', { upload_id: uploads[0].id, error_message: 'It has no position' })
}
