import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OPEN_HOST, openHost } from '../../../test/support/open-host.ts'
import { world } from '../../../test/support/world.ts'

// Goal: a scene with files that cannot be read is not saved; the problem names each of them and says what can be saved instead, and
// nothing is left: no item, no lineage, no event. What can be read is then saved by the same caller, without the rest.
test('catalog.scene.save: a scene whose files are broken', async (t) => {
  const host = await openHost(t)
  const w = await world(t, { sources: host.sources })
  const org = await w.organization()
  const { token } = org.owner
  let count = 0
  const publish = async (more: object = {}) => {
    const id = `scene-${++count}`
    await host.publish({ id, datetime: '2029-12-01T00:00:00.000Z', cloudCover: 2, ...more })
    return id
  }
  const save = (id: string, more: object = {}) =>
    w.call(token, 'catalog.scene.save', { host_name: OPEN_HOST, id, project_id: org.projectId, ...more })
  const leftovers = async () => {
    const tables = ['item', 'asset', 'saved_scene', 'event', 'lineage_edge'] as const
    return await Promise.all(
      tables.map(async (table) => {
        const { rows } = await w.db
          .selectFrom(table)
          .select((from) => from.fn.countAll<string>().as('rows'))
          .executeTakeFirstOrThrow()
        return [table, Number(rows)]
      }),
    )
  }

  await t.test('one that is missing or not a raster is named, with the assets that can be saved', async () => {
    const before = await leftovers()
    const missing = await publish()
    host.script.fileStatus = { [`${missing}-nir.tif`]: 404 }
    const page = await publish({ bytes: { nir: Buffer.from('<html>Sign in</html>') } })
    const cut = await publish({ bytes: { nir: Buffer.from('II*\0') } })
    for (const [id, reason] of [
      [missing, /status 404/],
      [page, /TIFF/],
      [cut, /\w/],
    ] as const) {
      const { status, body } = await save(id)
      assert.equal(status, 422, JSON.stringify(body))
      assert.match(body.detail, reason)
      assert.match(body.detail, /^The asset 'nir' cannot be read: .* Save the scene without it \(assets: red\), or try again later\.$/)
      assert.deepEqual([body.unreadable_assets, body.readable_assets], [['nir'], ['red']])
    }
    assert.deepEqual(await leftovers(), before)
  })

  await t.test('the rest is saved on request', async () => {
    const { status, body } = await save('scene-1', { assets: ['red'] })
    assert.equal(status, 200, JSON.stringify(body))
    const assets = await w.ok(token, 'items.list_assets', { item_id: body.item.id })
    assert.deepEqual(
      assets.map(({ key }: { key: string }) => key),
      ['red'],
    )
  })

  await t.test('if none can be read, all are named and nothing else is offered', async () => {
    const before = await leftovers()
    const id = await publish()
    host.script.fileStatus = { [`${id}-nir.tif`]: 404, [`${id}-red.tif`]: 410 }
    const { status, body } = await save(id)
    assert.equal(status, 422, JSON.stringify(body))
    assert.match(body.detail, /^The asset 'red' cannot be read: .* Nor can 'nir'\. Try again later, or choose another scene\.$/)
    assert.deepEqual(body.readable_assets, [])
    assert.deepEqual(await leftovers(), before)
  })

  await t.test('a host that fails is a gateway error; when it works again, the scene is saved', async () => {
    const before = await leftovers()
    const id = await publish()
    host.script.fileStatus = { [`${id}-nir.tif`]: 503, [`${id}-red.tif`]: 503 }
    const { status, body } = await save(id)
    assert.equal(status, 502, JSON.stringify(body))
    assert.match(body.detail, /^The asset 'red' cannot be read: /)
    assert.deepEqual(await leftovers(), before)
    host.script.fileStatus = {}
    assert.equal((await save(id)).status, 200)
  })
})
