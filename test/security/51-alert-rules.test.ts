import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scene } from '../support/scene.ts'
import { world } from '../support/world.ts'

// Goal: a rule that watches a collection exists only for those who can read the collection, and a rule belongs to whoever changed
// it last: it is evaluated with their rights, so no one can make another member's rule report what they cannot read themselves.
test('row 51: alert rules on private collections', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const [insider, outsider] = [await w.member(org, 'editor'), await w.member(org, 'editor')]
  const admin = await w.member(org)
  await w.ok(org.owner.token, 'organizations.members.set_role', { user_id: admin.id, role: 'admin' })
  const { id: project_id } = await w.ok(org.owner.token, 'projects.create', { name: 'Secret', visibility: 'private' })
  await w.ok(org.owner.token, 'projects.add_member', { project_id, user_id: insider.id, role: 'editor' })
  const { id: collection_id } = await w.ok(insider.token, 'collections.create', { project_id, name: 'Quarry' })
  const TERMS = { name: 'Blast', expression: 'b1', comparison: 'gt', threshold: 10 }
  const create = async (token: string, more: object = {}) =>
    (await w.ok(token, 'alerts.create_rule', { ...TERMS, ...more })).alert_rule.id as string
  const level = () => scene({ bandNames: ['level'], dataType: 'float32', width: 64, height: 64, value: () => 12 })
  const put = async () => {
    const { body } = await w.upload(org.owner.token, project_id, { 'level.tif': await level() })
    await w.evaluateAlerts()
    return body.item_ids[0] as string
  }
  const fired = async (rule_id: string) => (await w.ok(org.owner.token, 'alerts.events.list', { rule_id })).count as number

  const rule_id = await create(insider.token, { collection_id })
  const itemId = await put()

  await t.test('members outside the project find nothing', async () => {
    const ofOutsider = await w.key(outsider.token, ['read', 'write'])
    for (const token of [outsider.token, ofOutsider.key]) {
      for (const filter of [{}, { collection_id }, { active: true }]) {
        const listed = await w.call(token, 'alerts.rules.list', filter)
        assert.deepEqual([listed.status, listed.body.count], [200, 0])
        assert.ok(!listed.bytes.includes(rule_id) && !listed.bytes.includes(collection_id))
      }
      for (const [operation, more] of [
        ['alerts.rule.get', {}],
        ['alerts.update_rule', { name: 'Mine' }],
        ['alerts.update_rule', { collection_id: null }],
        ['alerts.update_rule', { active: false }],
        ['alerts.delete_rule', {}],
        ['alerts.test_rule', { item_id: itemId }],
      ] as const) {
        const about = await w.call(token, operation, { rule_id, ...more })
        const absent = await w.call(token, operation, { rule_id: org.id, ...more })
        assert.deepEqual([about.status, about.body.detail], [404, absent.body.detail], operation)
      }
    }
  })

  await t.test('members of the project, admins and owners do', async () => {
    for (const token of [insider.token, admin.token, org.owner.token]) {
      assert.equal((await w.ok(token, 'alerts.rules.list')).count, 1)
      assert.equal((await w.ok(token, 'alerts.rule.get', { rule_id })).alert_rule.name, 'Blast')
    }
  })

  await t.test('nor after the project is deleted, or they have left it', async () => {
    const { id: doomed } = await w.ok(org.owner.token, 'projects.create', { name: 'Doomed', visibility: 'private' })
    await w.ok(org.owner.token, 'projects.add_member', { project_id: doomed, user_id: outsider.id, role: 'editor' })
    const { id: watched } = await w.ok(org.owner.token, 'collections.create', { project_id: doomed, name: 'Pit' })
    const doomedRule = await create(org.owner.token, { collection_id: watched })
    assert.equal((await w.call(outsider.token, 'alerts.rule.get', { rule_id: doomedRule })).status, 200)
    await w.ok(org.owner.token, 'projects.remove_member', { project_id: doomed, user_id: outsider.id })
    assert.equal((await w.call(outsider.token, 'alerts.rule.get', { rule_id: doomedRule })).status, 404)
    await w.ok(org.owner.token, 'projects.delete', { project_id: doomed })
    assert.equal((await w.call(outsider.token, 'alerts.rule.get', { rule_id: doomedRule })).status, 404)
    assert.equal((await w.ok(outsider.token, 'alerts.rules.list')).count, 0)
  })

  await t.test('a rule has the rights of the user who last changed it, and no others', async () => {
    const shared = await create(insider.token, { cooldown_minutes: 0 })
    await put()
    assert.equal(await fired(shared), 1, 'with the rights of the insider')
    await w.ok(outsider.token, 'alerts.update_rule', { rule_id: shared, threshold: 5 })
    await put()
    assert.equal(await fired(shared), 1, 'with those of the outsider, who cannot read the project')
    const toldOf = JSON.stringify(await w.ok(outsider.token, 'notifications.list'))
    assert.ok(!toldOf.includes('Blast'))
    await w.ok(insider.token, 'alerts.update_rule', { rule_id: shared, threshold: 6 })
    await put()
    assert.equal(await fired(shared), 2)
  })
})
