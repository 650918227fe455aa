import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '#core/ids.ts'
import * as lineage from '#model/platform/lineage.ts'
import { world } from '../support/world.ts'
import { withoutInstance } from './cast.ts'

// Goal: cases that the matrix does not cover: nested IDs, credentials across organizations, equal IDs on both sides.
test('row 12: resources of another organization', async (t) => {
  const w = await world(t)
  const a = await w.organization('A')
  const b = await w.organization('B')

  await t.test("another organization's member does not exist in one's own organization", async () => {
    const limits = (userId: string) =>
      w.call(a.owner.token, 'organizations.members.set_spend_limit', {
        organizationId: a.id,
        userId,
        perOrderLimitCredits: null,
        spendLimitCredits: null,
      })
    const theirs = await limits(b.owner.id)
    assert.equal(theirs.status, 404)
    for (const nobody of [newId(), 'nobody', '', "' or 1=1 --"])
      assert.equal(withoutInstance((await limits(nobody)).bytes), withoutInstance(theirs.bytes), nobody)
  })

  await t.test('a member of one project has no access to another', async () => {
    const guest = await w.guest(b.projectId, 'viewer')
    for (const [id, more] of [
      ['projects.update_member', { role: 'admin' }],
      ['projects.remove_member', {}],
    ] as const) {
      const theirs = await w.call(a.owner.token, id, { project_id: a.projectId, user_id: guest.id, ...more })
      const nobody = await w.call(a.owner.token, id, { project_id: a.projectId, user_id: newId(), ...more })
      assert.equal(theirs.status, 404)
      assert.equal(withoutInstance(theirs.bytes), withoutInstance(nobody.bytes))
    }
  })

  await t.test('a key is limited to its organization, although its owner belongs to both', async () => {
    const second = await w.ok(a.owner.token, 'organizations.create', { name: 'Second of the same owner' })
    const elsewhere = await w.signIn(a.owner, second.id)
    const { id: projectId } = await w.ok(elsewhere.token, 'projects.create', { name: 'There' })
    const { key } = await w.key(a.owner.token, ['read', 'write'])
    assert.equal(
      (await w.call(a.owner.token, 'projects.get', { project_id: projectId })).status,
      200,
      'the person is a member of that project',
    )
    for (const id of ['projects.get', 'projects.delete']) assert.equal((await w.call(key, id, { project_id: projectId })).status, 404, id)
    const { projects } = await w.ok(key, 'projects.list')
    assert.ok(projects.every((project: { organization_id: string }) => project.organization_id === a.id))
  })

  await t.test('a service that acts for one organization and a user is limited to it, too', async () => {
    const delegated = await w.auth.tokens.sign({ typ: 'service', onBehalfOf: b.owner.id, organizationId: a.id }, 600)
    assert.equal((await w.call(delegated, 'projects.get', { project_id: a.projectId })).status, 200)
    assert.equal((await w.call(delegated, 'projects.get', { project_id: b.projectId })).status, 404)
  })

  await t.test('a token keeps the organization it was issued for, and loses it with the membership', async () => {
    const member = await w.member(a)
    const inB = await w.join(await w.signIn(member), b, 'editor')
    assert.equal((await w.ok(member.token, 'organizations.get')).id, a.id)
    assert.equal((await w.ok(inB.token, 'organizations.get')).id, b.id)
    await w.db.deleteFrom('organization_member').where('user_id', '=', member.id).where('org_id', '=', a.id).execute()
    const gone = await w.call(member.token, 'organizations.get')
    assert.equal(gone.status, 403)
    assert.equal(gone.body.code, 'organization-required')
    assert.equal((await w.ok(inB.token, 'organizations.get')).id, b.id)
  })

  await t.test('signing in or refreshing for another organization is rejected, whether it exists or not', async () => {
    const person = await w.person()
    const attempt = (organization_id: string) =>
      w.post('/auth/sign-in', { email: person.email, password: person.password, organization_id })
    const refresh = (organization_id: string) => w.post('/auth/refresh', { refresh_token: person.refreshToken, organization_id })
    for (const tried of [attempt, refresh]) {
      const theirs = await tried(a.id)
      assert.equal(theirs.status, 403)
      assert.equal(withoutInstance((await tried(newId())).bytes), withoutInstance(theirs.bytes))
    }
    assert.equal(
      (await w.post('/auth/refresh', { refresh_token: person.refreshToken })).status,
      200,
      'the refused refresh did not spend the token',
    )
  })

  await t.test('the same artifact id in two organizations is two artifacts', async () => {
    const shared = newId()
    const invocation = { a: newId(), b: newId() }
    for (const [side, org] of [
      ['a', a],
      ['b', b],
    ] as const) {
      await w.db
        .transaction()
        .execute((tx) =>
          lineage.write(
            tx,
            org.id,
            invocation[side],
            [{ entity: { type: 'item', id: shared }, relation: 'uploaded', origin: { type: 'project', id: org.projectId } }],
            w.clock.now(),
          ),
        )
    }
    for (const [side, org, other] of [
      ['a', a, b],
      ['b', b, a],
    ] as const) {
      const graph = await w.ok(org.owner.token, 'provenance.get', { entity_type: 'item', entity_id: shared, direction: 'both' })
      assert.deepEqual(
        graph.edges.map((edge: { dst_id: string; invocation_id: string }) => [edge.dst_id, edge.invocation_id]),
        [[org.projectId, invocation[side]]],
      )
      assert.ok(!JSON.stringify(graph).includes(other.projectId))
    }
  })

  await t.test('the audit log never shows calls of another organization', async () => {
    await w.call(b.owner.token, 'projects.get', { project_id: a.projectId })
    await w.flushAudit()
    const { entries } = await w.ok(a.owner.token, 'organizations.audit.list', { limit: 1000 })
    assert.ok(entries.length > 0)
    assert.ok(
      entries.every(
        (entry: { user_id: string | null; principal_kind: string }) => entry.principal_kind !== 'user' || entry.user_id !== b.owner.id,
      ),
    )
  })
})
