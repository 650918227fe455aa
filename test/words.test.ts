// Goal: an error says what to change: which permission a key lacks, that longitude comes first, that a name must not be blank.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations } from '#registry.ts'
import { world } from './support/world.ts'

test('texts of errors', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { token } = org.owner

  await t.test('a key without the scope learns which permission it needs', async () => {
    const { key } = await w.key(token, ['read'])
    const refused = await w.call(key, 'projects.create', { name: 'n' })
    assert.deepEqual([refused.status, refused.body.required_scope], [403, 'projects:write'])
    assert.match(JSON.stringify(refused.body), /key with the permission 'write'; create one with api_keys\.create/)
    const { key: able } = await w.key(token, ['write'])
    assert.equal((await w.call(able, 'projects.create', { name: 'n' })).status, 200, 'and that is right')
  })

  await t.test('longitude and latitude that look swapped are pointed out', async () => {
    const ring = [
      [-33.1, 151],
      [-33.1, 151.2],
      [-33, 151.2],
      [-33.1, 151],
    ]
    const create = (more: object) => w.call(token, 'items.create', { project_id: org.projectId, type: 'user_raster', name: 'n', ...more })
    for (const place of [{ geometry: { type: 'Polygon', coordinates: [ring] } }, { bbox: [-33.1, 151, -33, 151.2] }]) {
      const { status, body } = await create(place)
      assert.equal(status, 422, JSON.stringify(place))
      assert.match(JSON.stringify(body.errors ?? body), /longitude comes first, then latitude/)
    }
    const far = await create({ geometry: { type: 'Point', coordinates: [200, 100] } })
    assert.equal(far.status, 422)
    assert.doesNotMatch(JSON.stringify(far.body), /comes first/, 'what fits neither way is not guessed at')
  })

  await t.test('a blank name is rejected everywhere', async () => {
    const cases: [string, object][] = [
      ['projects.create', {}],
      ['items.create', { project_id: org.projectId, type: 'user_raster' }],
      ['collections.create', { project_id: org.projectId }],
      ['api_keys.create', {}],
      ['organizations.create', {}],
      ['orders.tasking.templates.save', {}],
    ]
    for (const [id, rest] of cases) {
      const { status, body } = await w.call(token, id, { ...rest, name: ' \t ' })
      assert.equal(status, 422, id)
      assert.deepEqual(
        body.errors.filter(({ field }: { field: string }) => field === 'name'),
        [{ field: 'name', message: 'must not be blank' }],
        id,
      )
    }
    const blank = [...operations.values()].flatMap(({ id, input }) => {
      const { name } = (input as { properties?: { name?: { pattern?: string; anyOf?: { pattern?: string }[] } } }).properties ?? {}
      return name && ![name, ...(name.anyOf ?? [])].some(({ pattern }) => pattern !== undefined) ? [id] : []
    })
    assert.deepEqual(blank, [], 'and so it is for every operation with a name')
  })
})
