import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world, type World } from '../../../test/support/world.ts'

/** A failed top-up notifies owners and admins. */
async function fail(w: World, token: string): Promise<void> {
  const { id } = await w.ok(token, 'payment_methods.attach', { payment_method_id: 'pm_card_visa_chargeDeclined' })
  await w.ok(token, 'payment_methods.set_default', { payment_method_row_id: id })
  assert.equal((await w.call(token, 'billing.topup', { aud_cents: 10_000 })).status, 402)
}

// Goal: users find their own notifications in their inbox, and can read and dismiss each once.
test('notifications', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const member = await w.member(org)
  const stranger = await w.organization()
  const list = (token: string, input: object = {}) => w.ok(token, 'notifications.list', input)

  await t.test('the inviter is notified when an invitation is accepted', async () => {
    const [{ id: notification_id, kind, title, body }, ...more] = await list(org.owner.token)
    const name = member.email.split('@')[0]
    assert.deepEqual([kind, title, more], ['invitation', `${name} has joined`, []])
    assert.equal(body, `${name} (${member.email}) accepted your invitation.`)
    await w.ok(org.owner.token, 'notifications.dismiss', { notification_id })
  })
  await w.ok(member.token, 'billing.approvals.request', { credits: 100, reason: 'Flood response' })
  await t.test('an approval request notifies owners and admins', async () => {
    const [notification] = await list(org.owner.token)
    assert.deepEqual(
      [notification.kind, notification.title],
      ['approval', `${member.email.split('@')[0]} requests approval for 100 credits`],
    )
    assert.match(notification.body, /100 credits.*Flood response/)
    assert.deepEqual([notification.read, notification.dismissed, notification.organization_id], [false, false, org.id])
    assert.deepEqual(await list(member.token), [])
    assert.deepEqual(await list(stranger.owner.token), [])
  })
  await t.test('keys have no inbox', async () => {
    const { key } = await w.key(org.owner.token, ['read', 'write'])
    const [{ id }] = await list(org.owner.token)
    assert.deepEqual(await list(key), [])
    assert.deepEqual(await w.ok(key, 'notifications.unread_count'), { count: 0 })
    assert.deepEqual(await w.ok(key, 'notifications.mark_all_read'), { marked_count: 0 })
    assert.equal((await w.call(key, 'notifications.mark_read', { notification_id: id })).status, 404)
  })
  await t.test('read once, dismissed once; not found for anyone else', async () => {
    const [{ id: notification_id }] = await list(org.owner.token)
    for (const id of ['notifications.mark_read', 'notifications.dismiss'])
      assert.equal((await w.call(stranger.owner.token, id, { notification_id })).status, 404)
    assert.deepEqual(await w.ok(org.owner.token, 'notifications.unread_count'), { count: 1 })
    assert.equal((await w.ok(org.owner.token, 'notifications.mark_read', { notification_id })).read, true)
    assert.equal((await w.call(org.owner.token, 'notifications.mark_read', { notification_id })).status, 404)
    assert.deepEqual(await list(org.owner.token, { unread_only: true }), [])
    assert.equal((await list(org.owner.token)).length, 1)
    assert.equal((await w.ok(org.owner.token, 'notifications.dismiss', { notification_id })).dismissed, true)
    assert.equal((await w.call(org.owner.token, 'notifications.dismiss', { notification_id })).status, 404)
    assert.deepEqual(await list(org.owner.token), [])
  })
  await t.test('a failed top-up notifies once', async () => {
    await fail(w, org.owner.token)
    const notifications = await list(org.owner.token)
    assert.deepEqual(
      notifications.map(({ kind, title }: { kind: string; title: string }) => [kind, title]),
      [['payment', 'Top-up failed']],
    )
    assert.match(notifications[0].body, /A\$100\.00/)
    assert.deepEqual(await w.ok(org.owner.token, 'notifications.mark_all_read'), { marked_count: 1 })
    assert.deepEqual(await w.ok(org.owner.token, 'notifications.unread_count'), { count: 0 })
  })
})
