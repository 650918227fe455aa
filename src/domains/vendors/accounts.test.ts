import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { balance, grant, placeArchive, scenes, square, work } from '../../../test/orders/support.ts'
import { orderViolations } from '../../../test/orders/invariants.ts'
import { world } from '../../../test/support/world.ts'

const HOST = { host_name: 'sandbox-vhr' }
const KEY = 'sandbox-vendor-key'

// Goal: an organization's account is checked before it is stored, never shown again, used for that organization alone, and pays the vendor.
test('accounts at vendors', async (t) => {
  const w = await world(t, { vendors: true })
  const org = await w.organization()
  const other = await w.organization()
  const { token } = org.owner
  const put = (key: string, more: object = {}) => w.call(token, 'vendors.accounts.put', { ...HOST, credentials: { key, ...more } })

  await t.test('vendors and the credentials that they need are listed', async () => {
    const { accounts, vendors } = await w.ok(token, 'vendors.accounts.list')
    assert.deepEqual(accounts, [])
    assert.deepEqual(vendors, [
      {
        ...HOST,
        title: 'Sandbox very high resolution',
        description: 'Simulated images of 0.5 m with four bands, archive and tasking',
        offers: ['archive', 'tasking'],
        is_tested: true,
        missing_licences: ['Sandbox licence for assured tasking'],
        credentials: ['key'],
        currency: 'AUD',
        handling_credits: 0,
        is_sold_here: true,
      },
    ])
  })

  await t.test('rejected: a wrong key, missing and superfluous fields, a vendor without accounts', async () => {
    const wrong = await put('not the key'.replaceAll(' ', '-'))
    assert.equal(wrong.status, 400)
    assert.match(wrong.body.detail, /does not accept these credentials; nothing was stored/)
    const more = await put(KEY, { user: 'ann' })
    assert.deepEqual([more.status, more.body.errors[0].field], [422, 'credentials.user'])
    const none = await w.call(token, 'vendors.accounts.put', { ...HOST, credentials: {} })
    assert.deepEqual([none.status, none.body.errors[0].field], [422, 'credentials.key'])
    const unknown = await w.call(token, 'vendors.accounts.put', { host_name: 'sandbox-hr', credentials: { key: KEY } })
    assert.equal(unknown.status, 404)
    assert.match(unknown.body.detail, /Vendors: sandbox-vhr/)
    assert.deepEqual((await w.ok(token, 'vendors.accounts.list')).accounts, [])
  })

  await t.test('only signed-in owners, admins and billing admins see and change accounts', async () => {
    const member = await w.member(org, 'viewer')
    assert.equal((await w.call(member.token, 'vendors.accounts.list', {})).status, 403)
    assert.equal((await w.call(member.token, 'vendors.accounts.put', { ...HOST, credentials: { key: KEY } })).status, 403)
    const { key } = await w.key(token, ['read', 'write', 'process'])
    for (const [id, input] of [
      ['vendors.accounts.list', {}],
      ['vendors.accounts.put', { ...HOST, credentials: { key: KEY } }],
    ] as const) {
      const { status, body } = await w.call(key, id, input)
      assert.deepEqual([status, body.code], [403, 'user-authorization-required'])
    }
  })

  await t.test('a stored key is encrypted, and only its end is shown', async () => {
    const { status, body } = await put(KEY)
    assert.deepEqual([status, body.status, body.hint, body.created_by], [200, 'accepted', '…-key', org.owner.id])
    assert.doesNotMatch(JSON.stringify([body, await w.ok(token, 'vendors.accounts.list')]), new RegExp(KEY))
    const rows = await w.db.selectFrom('vendor_account').selectAll().execute()
    assert.equal(rows.length, 1)
    assert.doesNotMatch(JSON.stringify(rows), new RegExp(KEY))
    assert.equal((await put(KEY)).body.id, body.id, 'a second one replaces it')
    assert.deepEqual((await w.ok(other.owner.token, 'vendors.accounts.list')).accounts, [])
  })

  await t.test('the organization pays the vendor; another one still pays us', async () => {
    const [scene] = await scenes(w, 'sandbox-vhr', 1)
    const captures = [{ id: scene!.id, geometry: square(2.3, 48.2, 0.002), host: 'sandbox-vhr' }]
    const own = await w.ok(token, 'orders.archive.estimate', { captures })
    const ours = await w.ok(other.owner.token, 'orders.archive.estimate', { captures })
    assert.deepEqual([own.total_credits, ours.groups[0].billedByVendor], [0, null])
    assert.deepEqual(own.groups[0].billedByVendor, { currency: 'AUD', amount: ours.total_credits / 100 })
    const before = await balance(w, org)
    const { body: order } = await placeArchive(w, org, { captures })
    assert.deepEqual([order.totalCredits, order.groups[0].billedByVendor], [0, own.groups[0].billedByVendor])
    assert.equal((await w.call(token, 'vendors.accounts.delete', HOST)).status, 400, 'an open order uses it')
    await work(w, [order.id])
    Object.assign(org.owner, await w.signIn(org.owner, org.id))
    const done = await w.ok(org.owner.token, 'orders.get', { id: order.id })
    assert.deepEqual([done.status, done.capturedCredits, done.itemIds.length], ['fulfilled', 0, 1], JSON.stringify(done))
    assert.deepEqual(await balance(w, org), before)
  })

  await t.test('a process with another key for secrets cannot use it, and says why', async (t) => {
    const stranger = await world(t, { databaseUrl: w.databaseUrl, clock: w.clock, secretsKey: randomBytes(32) })
    const answer = await stranger.call(org.owner.token, 'vendors.accounts.check', HOST)
    assert.equal(answer.status, 500)
    assert.ok(stranger.logLines.some((line) => line.includes('SECRETS_KEY or secrets.key has changed')))
  })

  await t.test('a deleted account is gone, and credits are charged again', async () => {
    const call = (id: string) => w.call(org.owner.token, id, HOST)
    assert.deepEqual((await call('vendors.accounts.delete')).body, { ok: true, ...HOST })
    for (const id of ['vendors.accounts.delete', 'vendors.accounts.check']) assert.equal((await call(id)).status, 404)
    await grant(w, org, 100_000)
    const [scene] = await scenes(w, 'sandbox-vhr', 1)
    const captures = [{ id: scene!.id, geometry: square(2.3, 48.2, 0.002), host: 'sandbox-vhr' }]
    assert.ok((await w.ok(org.owner.token, 'orders.archive.estimate', { captures })).total_credits > 0)
  })
  assert.deepEqual(await orderViolations(w.db), [])
})
