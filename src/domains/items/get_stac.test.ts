import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scene } from '../../../test/support/scene.ts'
import { world } from '../../../test/support/world.ts'

/** The extension schema of each field prefix. */
const SCHEMAS: Readonly<Record<string, RegExp>> = {
  eo: /\/eo\/v/,
  file: /\/file\/v/,
  proj: /\/projection\/v/,
  raster: /\/raster\/v/,
  svc: /\/stac\/svc\//,
}

// Goal: a feature always has a time, as STAC requires, and declares the extensions whose fields it has.
test('items.get_stac', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { token } = org.owner
  const stac = (item_id: string) => w.ok(token, 'items.get_stac', { item_id })
  const createItem = (more: object = {}) =>
    w.ok(token, 'items.create', { project_id: org.projectId, type: 'user_raster', name: 'n', ...more })

  await t.test('without a time it is the registration time; null only with an interval', async () => {
    const bare = await createItem()
    assert.equal((await stac(bare.id)).properties.datetime, bare.created_at)
    const [start_datetime, end_datetime] = ['2026-01-01T00:00:00.000Z', '2026-01-31T00:00:00.000Z']
    const { properties } = await stac((await createItem({ start_datetime, end_datetime })).id)
    assert.deepEqual([properties.datetime, properties.start_datetime, properties.end_datetime], [null, start_datetime, end_datetime])
  })

  await t.test('the extension of every field prefix is declared', async () => {
    const { status, body } = await w.upload(token, org.projectId, { 'a.tif': await scene() })
    assert.equal(status, 200, JSON.stringify(body))
    await w.ok(token, 'items.update', { item_id: body.item_ids[0], cloud_cover: 3 })
    const feature = await stac(body.item_ids[0])
    const names = [feature.properties, ...Object.values<object>(feature.assets)].flatMap((fields) => Object.keys(fields))
    const prefixes = [...new Set(names.filter((name) => name.includes(':')).map((name) => name.split(':')[0]!))]
    assert.ok(prefixes.length >= 4, prefixes.join(' '))
    for (const prefix of prefixes)
      assert.ok(
        feature.stac_extensions.some((uri: string) => SCHEMAS[prefix]?.test(uri)),
        `${prefix}: is declared`,
      )
  })
})
