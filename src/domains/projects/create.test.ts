import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/support/world.ts'

// Goal: a project is created with its bucket, admin, lineage and event, or not at all.
test('projects.create', async (t) => {
  const w = await world(t)
  const { owner, id: organizationId } = await w.organization()
  const count = async () => ({
    projects: (await w.db.selectFrom('project').select('id').execute()).length,
    nodes: (await w.db.selectFrom('lineage_node').select('seq').execute()).length,
    events: (await w.db.selectFrom('event').select('seq').execute()).length,
  })

  await t.test('returns the project and makes the caller its admin', async () => {
    const { status, body, headers } = await w.call(owner.token, 'projects.create', {
      name: 'Reef',
      description: null,
      visibility: 'private',
    })
    assert.equal(status, 200)
    assert.equal(body.organization_id, organizationId)
    assert.equal(body.role, 'admin')
    assert.equal(body.visibility, 'private')
    assert.equal(body.has_storage_bucket, true)
    await w.storage.put({ bucket: body.gcs_bucket_name, key: 'a.txt' }, Buffer.from('x'), { contentType: 'text/plain' })
    assert.equal((await w.storage.list(body.gcs_bucket_name)).objects.length, 1, 'the bucket exists')
    assert.equal(body.created_at, '2030-01-01T00:00:00.000Z')
    const event = await w.db.selectFrom('event').selectAll().where('entity_id', '=', body.id).executeTakeFirstOrThrow()
    assert.equal(event.type, 'project.created')
    assert.equal(event.invocation_id, headers.get('x-svc-invocation-id'))
  })

  await t.test('invalid input: the error names every field, and nothing is left behind', async () => {
    const before = await count()
    const { status, body } = await w.call(owner.token, 'projects.create', { name: '', colour: 'red' })
    assert.equal(status, 422)
    assert.deepEqual(body.errors.map((error: { field: string }) => error.field).toSorted(), ['colour', 'name'])
    assert.deepEqual(await count(), before)
  })

  await t.test('a user without an organization is rejected with the reason', async () => {
    const nobody = await w.person()
    const { status, body } = await w.call(nobody.token, 'projects.create', { name: 'x' })
    assert.equal(status, 403)
    assert.equal(body.code, 'organization-required')
  })

  await t.test('a read-only key is rejected and changes nothing', async () => {
    const { key } = await w.key(owner.token, ['read'])
    const before = await count()
    const { status, body } = await w.call(key, 'projects.create', { name: 'x' })
    assert.equal(status, 403)
    assert.equal(body.detail, "Missing required scope 'projects:write' for operation 'projects.create'")
    assert.deepEqual(await count(), before)
  })
})
