import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '#core/ids.ts'
import { world } from '../support/world.ts'

// Goal: neither lineage nor import responses reveal resources of a private project to users without access.
test('row 34: private projects in lineage and import', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const member = await w.member(org, 'editor')
  const owner = org.owner.token
  const hidden = await w.ok(owner, 'projects.create', { name: 'Hidden', visibility: 'private' })
  const feature = (id: string) => ({ type: 'Feature', id, geometry: null, properties: { datetime: '2029-01-01T00:00:00Z' }, assets: {} })
  const importInto = async (token: string, projectId: string, ids: string[]) =>
    await w.ok(token, 'items.import_stac', {
      project_id: projectId,
      features: { type: 'FeatureCollection', features: ids.map(feature) },
    })
  const source = await w.ok(owner, 'items.create', {
    project_id: hidden.id,
    type: 'user_raster',
    name: 'Secret source',
    assets: [{ key: 'data', href: 'https://example.com/a.tif', media_type: 'image/tiff' }],
  })
  const copy = await w.ok(owner, 'items.duplicate', { item_id: source.id, target_project_id: org.projectId })
  const back = await w.ok(owner, 'items.duplicate', { item_id: copy.id, target_project_id: hidden.id })
  const assetIds = (await w.ok(owner, 'items.list_assets', { item_id: source.id })).map((asset: { id: string }) => asset.id)

  await t.test('a member without access sees no id of the private project, up or down', async () => {
    for (const direction of ['up', 'down', 'both']) {
      const { bytes } = await w.call(member.token, 'provenance.get', { entity_type: 'item', entity_id: copy.id, direction })
      for (const secret of [source.id, back.id, hidden.id, ...assetIds])
        assert.ok(!bytes.toString().includes(secret), `${direction} names ${secret}`)
    }
    const around = await w.ok(member.token, 'provenance.get', { entity_type: 'item', entity_id: copy.id, direction: 'both' })
    assert.ok(around.nodes.some((node: { entity_id: string }) => node.entity_id === copy.id))
    const tree = await w.call(member.token, 'items.lineage', { item_id: copy.id })
    assert.ok(!tree.bytes.toString().includes(source.id))
  })

  await t.test('the owner still sees all of it', async () => {
    const { bytes } = await w.call(owner, 'provenance.get', { entity_type: 'item', entity_id: copy.id, direction: 'both' })
    for (const id of [source.id, back.id, hidden.id]) assert.ok(bytes.toString().includes(id), id)
  })

  await t.test('an import reports a hidden item in the same way, whatever its state', async () => {
    const [live, deleted] = [`live-${newId()}`, `deleted-${newId()}`]
    await importInto(owner, hidden.id, [live, deleted])
    await w.ok(owner, 'items.delete', { item_id: deleted })
    const { created, errors } = await importInto(member.token, org.projectId, [live, deleted])
    assert.equal(created, 0)
    assert.equal(new Set(errors.map((error: { message: string }) => error.message)).size, 1)
    assert.ok(!/project|deleted/.test(errors[0].message), errors[0].message)
    const { errors: told } = await importInto(owner, org.projectId, [live, deleted])
    assert.deepEqual(
      told.map((error: { message: string }) => /another project|was deleted/.exec(error.message)?.[0]),
      ['another project', 'was deleted'],
    )
  })
})
