import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations } from '#registry.ts'
import { scene } from './support/scene.ts'
import { world, type Answer } from './support/world.ts'

/** 422, and every error names its field and what is wrong with it. */
function assertInvalid({ status, body }: Answer, what: string): void {
  assert.deepEqual([status, body.code, body.status], [422, 'invalid-input', 422], `${what}: ${JSON.stringify(body)}`)
  assert.ok(body.type.endsWith('/problems/invalid-input'), what)
  assert.ok(Array.isArray(body.errors) && body.errors.length > 0, `${what} has errors`)
  for (const { field, message } of body.errors)
    assert.ok(typeof field === 'string' && field && typeof message === 'string' && message, what)
}

// Goal: invalid input is one problem with one status everywhere, and always lists the fields that are wrong.
test('invalid-input is 422 with errors, wherever it comes from', async (t) => {
  const w = await world(t, { clipUserEmail: 'clip@example.com' })
  const org = await w.organization()
  const staff = await w.serviceToken()
  const { token } = org.owner
  const bearer = { authorization: `Bearer ${token}` }
  const itemId = (await w.upload(token, org.projectId, { 'a.tif': await scene({ width: 64, height: 64 }) })).body.item_ids[0] as string

  await t.test('every operation, for an unknown field', async () => {
    for (const { id, scope } of operations.values()) {
      const credential = scope.startsWith('admin:') || scope.startsWith('clip:') ? staff : token
      const answer = await w.call(credential, id, { no_such_field: 1 })
      if (answer.status !== 403) assertInvalid(answer, id) // Workers alone can call some.
    }
  })

  await t.test('errors that only the raster or the database can detect', async () => {
    const calls: [string, object][] = [
      ['items.tile.render', { item_id: itemId, z: 0, x: 0, y: 0, expression: 'b99' }],
      ['items.tile.render', { item_id: itemId, z: 0, x: 0, y: 0, bidx: [99] }],
      ['items.tile.statistics', { item_id: itemId, bidx: [99] }],
      ['analytics.execute', { operation: 'zonal_stats', params: { item_id: itemId, expression: 'b99' } }],
      ['analytics.execute', { operation: 'time_series', params: { item_ids: [itemId], expression: 'b1 +' } }],
      ['billing.topup', {}],
      ['billing.topup', { aud_cents: 10_000, credits: 10_000 }],
      ['alerts.create_rule', { name: 'x', expression: 'b1 +', comparison: 'gt', threshold: 1 }],
      ['processing.create', { project_id: org.projectId, job_type_id: 'band_math', input_params: { item_id: itemId, expression: 'b99' } }],
    ]
    for (const [id, input] of calls) assertInvalid(await w.call(token, id, input), `${id} ${JSON.stringify(input)}`)
  })

  await t.test('tile URLs, as operations do', async () => {
    assertInvalid(await w.request('GET', `/api/v1/items/${itemId}/tiles/0/0/0.png?expression=b99`, { headers: bearer }), 'tile')
  })

  await t.test('STAC returns 400 as its clients expect: bad-request, with the errors', async () => {
    const { status, body } = await w.post('/stac/search', { limit: 'x' }, bearer)
    assert.deepEqual([status, body.status, body.code], [400, 400, 'bad-request'])
    assert.ok(body.type.endsWith('/problems/bad-request'), body.type)
    assert.equal(body.errors[0].field, 'limit')
  })
})
