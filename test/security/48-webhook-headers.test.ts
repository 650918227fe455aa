import assert from 'node:assert/strict'
import { test } from 'node:test'
import { receiver } from '../support/receiver.ts'
import { world } from '../support/world.ts'

// Goal: a webhook's headers belong to the URL they were set for, and only its creator, an admin or an owner can change, test,
// rotate or delete it. Every member sees that it exists, and never a header's value.
test('row 48: headers of a webhook whose URL changes', async (t) => {
  const own = await receiver(t)
  const moved = await receiver(t)
  const w = await world(t, { egressAllow: [own.host, moved.host] })
  const org = await w.organization()
  const [creator, member, viewer] = [await w.member(org, 'editor'), await w.member(org, 'editor'), await w.member(org, 'viewer')]
  const admin = await w.member(org)
  await w.ok(org.owner.token, 'organizations.members.set_role', { user_id: admin.id, role: 'admin' })
  const HEADERS = { 'X-Gateway-Key': 'hunter2' }
  const subscribe = async (token: string) =>
    await w.ok(token, 'event_subscriptions.create', { event_type: 'collection.created', endpoint_url: own.url, headers: HEADERS })
  const update = (token: string, subscription_id: string, change: object) =>
    w.call(token, 'event_subscriptions.update', { subscription_id, ...change })
  const isSent = async (subscription_id: string) => {
    const before = own.received.length + moved.received.length
    await w.ok(org.owner.token, 'event_subscriptions.test', { subscription_id })
    assert.equal(own.received.length + moved.received.length, before + 1)
    return [...own.received, ...moved.received].some(({ headers }) => headers['x-gateway-key'] !== undefined)
  }
  const forget = () => [own, moved].forEach(({ received }) => received.splice(0))

  await t.test('other members see it without the value, and change nothing', async () => {
    const subscription = await subscribe(creator.token)
    const ofMember = await w.key(member.token, ['read', 'write'])
    for (const token of [member.token, viewer.token, ofMember.key]) {
      const listed = await w.call(token, 'event_subscriptions.list')
      const shown = await w.call(token, 'event_subscriptions.get', { subscription_id: subscription.id })
      assert.deepEqual([listed.status, shown.status, shown.body.header_names], [200, 200, ['X-Gateway-Key']])
      assert.ok(!listed.bytes.includes('hunter2') && !shown.bytes.includes('hunter2'))
      for (const change of [{ endpoint_url: moved.url }, { headers: {} }, { active: false }, { rotate_secret: true }, { description: 'x' }])
        assert.equal((await update(token, subscription.id, change)).status, 403, JSON.stringify(change))
      for (const operation of ['event_subscriptions.test', 'event_subscriptions.delete']) {
        const { status, body } = await w.call(token, operation, { subscription_id: subscription.id })
        assert.equal(status, 403, operation)
        assert.match(body.detail, /creator, an admin or an owner/)
      }
      const { recent_deliveries: _none, ...after } = shown.body
      assert.deepEqual(after, { ...after, endpoint_url: own.url, is_active: true, updated_at: subscription.updated_at })
    }
    assert.equal(own.received.length + moved.received.length, 0)
  })

  await t.test('creator, their key, admin and owner can', async () => {
    const ofCreator = await w.key(creator.token, ['read', 'write'])
    for (const token of [creator.token, ofCreator.key, admin.token, org.owner.token]) {
      const subscription = await subscribe(creator.token)
      assert.equal((await update(token, subscription.id, { rotate_secret: true })).status, 200)
      await w.ok(token, 'event_subscriptions.test', { subscription_id: subscription.id })
      await w.ok(token, 'event_subscriptions.delete', { subscription_id: subscription.id })
    }
    const byKey = await subscribe(ofCreator.key)
    assert.equal((await update(org.owner.token, byKey.id, { endpoint_url: moved.url })).status, 200)
    assert.equal((await update(creator.token, byKey.id, { active: false })).status, 200, 'the owner of a key created what it created')
    assert.equal((await update(member.token, byKey.id, { active: true })).status, 403)
  })

  await t.test('a new URL without headers has none', async () => {
    forget()
    const subscription = await subscribe(creator.token)
    assert.equal(await isSent(subscription.id), true)
    forget()
    const { body } = await update(admin.token, subscription.id, { endpoint_url: moved.url })
    assert.deepEqual(body.header_names, [])
    assert.equal(await isSent(subscription.id), false)
    await update(admin.token, subscription.id, { endpoint_url: own.url })
    assert.equal(await isSent(subscription.id), false, 'nor do they return with the first URL')
  })

  await t.test('headers sent with the URL are its own; the same URL keeps those it has', async () => {
    forget()
    const subscription = await subscribe(creator.token)
    const same = await update(admin.token, subscription.id, { endpoint_url: own.url, description: 'unchanged' })
    assert.deepEqual(same.body.header_names, ['X-Gateway-Key'])
    const given = await update(admin.token, subscription.id, { endpoint_url: moved.url, headers: { 'X-Other': 'new' } })
    assert.deepEqual(given.body.header_names, ['X-Other'])
    assert.equal(await isSent(subscription.id), false)
    assert.equal(moved.received.at(-1)!.headers['x-other'], 'new')
  })

  await t.test('deliveries queued before the change have no old header either', async () => {
    forget()
    const subscription = await subscribe(creator.token)
    await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name: 'Queued' })
    await update(admin.token, subscription.id, { endpoint_url: moved.url })
    await w.deliver()
    const got = moved.received.filter(({ headers }) => headers['x-svc-event'] === 'collection.created')
    assert.ok(got.length > 0)
    assert.ok(got.every(({ headers }) => headers['x-gateway-key'] === undefined))
  })
})
