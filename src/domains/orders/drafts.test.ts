import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_DRAFTS } from '#model/orders/draft.ts'
import { world } from '../../../test/support/world.ts'

const area = { type: 'Polygon', coordinates: [[[137.9, -33.2], [138, -33.2], [138, -33.1], [137.9, -33.2]]] } // prettier-ignore
const capture = (id: string, more: object = {}) => ({ id, host: 'sandbox-vhr', geometry: area, ...more })
const ids = (draft: { captures: { id: string }[] }) => draft.captures.map(({ id }) => id)

// Goal: a member's cart and named drafts are kept on the service for that member alone; a device that missed a change cannot undo it;
// and what is saved comes back as it was.
test('orders.drafts', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { token } = org.owner
  const save = (input: object) => w.call(token, 'orders.drafts.save', input)

  await t.test('the cart is empty until something is in it, and comes back as it was saved', async () => {
    assert.deepEqual(await w.ok(token, 'orders.drafts.get'), { draft: null })
    const saved = await w.ok(token, 'orders.drafts.save', {
      captures: [capture('a', { scene: { title: 'A <b>' }, quoted_credits: 310 }), { id: 'b', host: 'sandbox-vhr' }],
      version: 0,
    })
    const { draft } = await w.ok(token, 'orders.drafts.get')
    assert.deepEqual(draft, saved.draft)
    assert.deepEqual([draft.name, draft.version], [null, 1])
    assert.deepEqual(draft.captures, [
      { id: 'a', host: 'sandbox-vhr', geometry: area, scene: { title: 'A <b>' }, quoted_credits: 310 },
      { id: 'b', host: 'sandbox-vhr', geometry: null, scene: {}, quoted_credits: null },
    ])
  })
  await t.test('a device that has not seen the last change is refused, and told the version', async () => {
    assert.equal((await save({ captures: [capture('c')], version: 1 })).status, 200)
    const late = await save({ captures: [capture('d')], version: 1 })
    assert.deepEqual([late.status, late.body.code, late.body.current_version], [409, 'draft-changed', 2])
    assert.deepEqual(ids((await w.ok(token, 'orders.drafts.get')).draft), ['c'])
    const two = await Promise.all([save({ captures: [], version: 2 }), save({ captures: [capture('e')], version: 2 })])
    assert.deepEqual(two.map(({ status }) => status).toSorted(), [200, 409])
  })
  await t.test('drafts have names; saving replaces, and the list has sums instead of scenes', async () => {
    await w.ok(token, 'orders.drafts.save', { name: 'Harbour', captures: [capture('a', { quoted_credits: 310 })] })
    w.clock.advance({ minutes: 1 })
    await w.ok(token, 'orders.drafts.save', {
      name: ' Harbour ',
      captures: [capture('a', { quoted_credits: 310 }), capture('b', { quoted_credits: 465 })],
    })
    const { drafts, count } = await w.ok(token, 'orders.drafts.list')
    assert.equal(count, 2)
    const [cart, harbour] = drafts
    assert.equal(cart.name, null)
    assert.deepEqual([harbour.name, harbour.capture_count, harbour.quoted_credits, harbour.version], ['Harbour', 2, 775, 2])
    assert.equal('captures' in harbour, false)
    assert.deepEqual(ids((await w.ok(token, 'orders.drafts.get', { draft_id: harbour.id })).draft), ['a', 'b'])
  })
  await t.test('colleagues have their own, whatever their role', async () => {
    const { drafts } = await w.ok(token, 'orders.drafts.list')
    const colleague = await w.member(org, 'admin')
    assert.equal((await w.ok(colleague.token, 'orders.drafts.list')).count, 0)
    for (const operation of ['orders.drafts.get', 'orders.drafts.delete'])
      assert.equal((await w.call(colleague.token, operation, { draft_id: drafts[1].id })).status, 404)
    assert.equal((await w.ok(token, 'orders.drafts.list')).count, 2)
  })
  await t.test('what is invalid is refused by its place, and nothing is saved', async () => {
    const cases: [object, RegExp][] = [
      [{ captures: [capture('x', { geometry: { type: 'Point', coordinates: [0, 0] } })] }, /captures.0.geometry/],
      [{ captures: [capture('x', { scene: { text: 'x'.repeat(5_000) } })] }, /captures.0.scene.*4096/],
      [{ captures: [capture('x', { price: 1 })] }, /price/],
      [{ captures: [capture('x', { quoted_credits: -1 })] }, /quoted_credits/],
      [{ captures: Array.from({ length: 201 }, (_, index) => ({ id: String(index), host: 'h' })) }, /captures/],
      [{ name: ' ', captures: [] }, /name/],
    ]
    for (const [input, expected] of cases) {
      const { status, body } = await save(input)
      assert.equal(status, 422, JSON.stringify(body))
      assert.match(JSON.stringify(body), expected)
    }
    assert.equal((await w.ok(token, 'orders.drafts.list')).count, 2)
  })
  await t.test('their number is limited', async () => {
    for (let index = 1; index < MAX_DRAFTS; index++) await w.ok(token, 'orders.drafts.save', { name: `Draft ${index}`, captures: [] })
    const { status, body } = await save({ name: 'One more', captures: [] })
    assert.deepEqual([status, body.used, body.limit], [400, MAX_DRAFTS, MAX_DRAFTS])
    const { drafts } = await w.ok(token, 'orders.drafts.list')
    await w.ok(token, 'orders.drafts.delete', { draft_id: drafts[1].id })
    assert.equal((await save({ name: 'One more', captures: [] })).status, 200)
  })
  await t.test('a member who leaves takes theirs along', async () => {
    const member = await w.member(org, 'editor')
    await w.ok(member.token, 'orders.drafts.save', { captures: [capture('z')] })
    const rows = () => w.db.selectFrom('order_draft').select('id').where('user_id', '=', member.id).execute()
    assert.equal((await rows()).length, 1)
    await w.ok(token, 'organizations.members.remove', { user_id: member.id })
    assert.equal((await rows()).length, 0)
  })
})
