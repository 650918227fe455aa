import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { newId } from '#core/ids.ts'
import { balance, eventsOf, grant, square, step, until, work } from '../../../test/orders/support.ts'
import { orderViolations } from '../../../test/orders/invariants.ts'
import { startLiar, type Script } from '../../../test/orders/liar.ts'
import { scene, type Scene } from '../../../test/support/scene.ts'
import { world, type Org, type World } from '../../../test/support/world.ts'
import place from './place.task.ts'
import poll from './poll.task.ts'

/** A picture that covers the square of the orders, which is a hundredth of a degree a side, or a part of it. */
const picture = (more: Scene = {}) =>
  scene({ west: 2.2995, north: 48.2105, degrees: 0.00011, width: 100, height: 100, bandNames: ['grey'], ...more })

const fileOf = (sceneId: string, bytes: number | null) => ({
  id: `file-of-${sceneId}`,
  file_name: `${sceneId}.tif`,
  scene_id: sceneId,
  media_type: 'image/tiff',
  bytes,
  geometry: square(),
  datetime: '2029-12-30T10:00:00Z',
  cloud_cover: 0,
  bands: [{ name: 'grey', role: null }],
  properties: {},
})

/** Everything under the store's folder: what a failed delivery leaves is there. */
const storedFiles = (w: World) =>
  readdirSync(path.join(w.dataDir, 'objects'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .toSorted()

const placeOrder = async (w: World, org: Org, ...ids: string[]) => {
  const captures = ids.map((id, index) => ({ id, geometry: square(2.3 + index * 0.01), host: 'sandbox-hr' }))
  return (await w.ok(org.owner.token, 'orders.archive.place', { projectId: org.projectId, captures })) as {
    id: string
    totalCredits: number
    groups: { id: string }[]
  }
}
const get = (w: World, org: Org, id: string) => w.ok(org.owner.token, 'orders.get', { id })

/** Delivered at once, with these files and these bytes. */
const delivering = (files: (ids: string[]) => object[], bytes: Uint8Array, more: { breaksAt?: number } = {}): Script => ({
  look: (view) => ({
    ...view,
    status: 'delivered',
    captures: view.captures.map((capture) => ({ ...capture, status: 'delivered' })),
    files: files(view.captures.map(({ scene_id }) => scene_id)),
  }),
  file: () => ({ bytes, ...more }),
})

// Goal: what a vendor says is believed no further than it can be seen: an order that it lies about ends released, with a reason.
test('vendors that lie', async (t) => {
  const liar = await startLiar(t)
  const w = await world(t, { sources: liar.sources })
  const org = await w.organization()
  await grant(w, org, 1_000_000)
  const whole = await picture()
  const whatIsOrdered = (bytes: number | null) => (ids: string[]) => ids.map((id) => fileOf(id, bytes))

  const lies: Record<string, [script: Script, reason: RegExp]> = {
    'it takes another order on than ours': [{ place: (view) => ({ ...view, reference: newId() }) }, /another object than requested/],
    'it confirms in words that nobody knows': [{ place: () => ({ id: 7, status: 'perhaps' }) }, /invalid order/],
    'it has never heard of the order': [{ look: () => 404 }, /no such order/],
    'it tells of another order': [{ look: (view) => ({ ...view, id: 'v-other', status: 'delivered' }) }, /another object than requested/],
    'it has delivered nothing': [delivering(() => [], whole), /there are no files/],
    'it delivers a scene that nobody ordered': [
      delivering((ids) => [...ids, 'stray'].map((id) => fileOf(id, whole.length)), whole),
      /stray, which was not ordered/,
    ],
    'it delivers one file twice': [
      delivering((ids) => [...ids, ...ids].map((id) => fileOf(id, whole.length)), whole),
      /the same file more than once/,
    ],
    'its file is no image': [delivering(whatIsOrdered(5), Buffer.from('hello')), /cannot be read/],
    'its file is cut off, and its length says so': [delivering(whatIsOrdered(900), whole.subarray(0, 900)), /cannot be read/],
    'its file is shorter than it said': [delivering(whatIsOrdered(whole.length + 1), whole), /sandbox-hr/],
    'its file is longer than it said': [delivering(whatIsOrdered(whole.length - 1), whole), /delivered more than/],
    'its file breaks off at the same byte each time': [delivering(whatIsOrdered(whole.length), whole, { breaksAt: 1_000 }), /sandbox-hr/],
    'its file shows another place': [delivering(whatIsOrdered(null), await picture({ west: 12.3 })), /another place/],
  }
  for (const [lie, [script, reason]] of Object.entries(lies))
    await t.test(lie, async () => {
      liar.script = script
      const before = await balance(w, org)
      const files = storedFiles(w)
      const { id } = await placeOrder(w, org, 'a')
      if (lie === 'it tells of another order') await givenUp(w, id)
      else await work(w, [id])
      Object.assign(org.owner, await w.signIn(org.owner, org.id))
      const done = await get(w, org, id)
      assert.deepEqual([done.status, done.capturedCredits, done.itemIds], ['failed', 0, []], JSON.stringify(done))
      assert.match(done.failureReason, reason)
      assert.equal(done.history.at(-1).reason, done.failureReason)
      assert.deepEqual(await balance(w, org), before, 'all of it is released')
      assert.deepEqual(storedFiles(w), files, 'nothing of it is kept')
      assert.equal((await eventsOf(w, id)).at(-1), 'order.failed')
    })

  await t.test('it says that all came, but one of two scenes has no file: what came is paid', async () => {
    liar.script = delivering(([first]) => [fileOf(first!, whole.length)], whole)
    const [available] = await balance(w, org)
    const { id, totalCredits } = await placeOrder(w, org, 'a', 'b')
    await work(w, [id])
    const done = await get(w, org, id)
    assert.deepEqual([done.status, done.groups[0].status, done.itemIds.length], ['fulfilled', 'part', 1], JSON.stringify(done))
    assert.match(done.failureReason, /Not delivered: b/)
    assert.ok(Math.abs(done.capturedCredits - totalCredits / 2) < totalCredits * 0.06, `${done.capturedCredits} of ${totalCredits}`)
    assert.deepEqual(await balance(w, org), [available - done.capturedCredits, 0])
  })

  await t.test('it says that the file shows all, but it shows the half of it: the half is paid', async () => {
    const half = await picture({ width: 50 })
    liar.script = delivering(whatIsOrdered(half.length), half)
    const [available] = await balance(w, org)
    const { id, totalCredits } = await placeOrder(w, org, 'a')
    await work(w, [id])
    const done = await get(w, org, id)
    assert.deepEqual([done.status, done.groups[0].status], ['fulfilled', 'part'], JSON.stringify(done))
    assert.match(done.failureReason, /Only \d+(\.\d+)?% of the area/)
    assert.ok(Math.abs(done.capturedCredits - totalCredits / 2) < totalCredits * 0.06, `${done.capturedCredits} of ${totalCredits}`)
    assert.deepEqual(await balance(w, org), [available - done.capturedCredits, 0])
  })

  await t.test('row 38: forged and replayed callbacks deliver, capture and release nothing', async () => {
    liar.script = { look: (view) => ({ ...view, status: 'accepted' }) }
    const { id, groups, totalCredits } = await placeOrder(w, org, 'a')
    await work(w, [id], until('awaiting_data'))
    const forged = { status: 'delivered', reference: groups[0]!.id, files: [fileOf('a', whole.length)] }
    const callback = () => w.post(`/webhooks/vendors/${groups[0]!.id}`, forged, { authorization: 'Bearer sandbox-vendor-key' })
    const [, reserved] = await balance(w, org)
    assert.equal(reserved, totalCredits)
    for (let sent = 0; sent < 5; sent++) assert.deepEqual((await callback()).body, { received: true })
    await w.drain(poll)
    const waiting = await get(w, org, id)
    assert.deepEqual([waiting.status, waiting.itemIds, (await balance(w, org))[1]], ['awaiting_data', [], totalCredits])

    Object.assign(liar.script, delivering(whatIsOrdered(whole.length), whole))
    await work(w, [id])
    const done = await get(w, org, id)
    assert.deepEqual([done.status, done.capturedCredits], ['fulfilled', totalCredits])
    const paid = await balance(w, org)
    const asked = liar.asked.length
    for (let sent = 0; sent < 5; sent++) await callback()
    await w.drain(poll)
    assert.deepEqual([await get(w, org, id), await balance(w, org)], [done, paid])
    assert.equal(liar.asked.length, asked, 'an order that has ended is not even asked about')
  })

  await t.test('one that hangs is asked again later, and what it says then counts', async () => {
    liar.script = { place: () => 'hang' }
    const before = await balance(w, org)
    const { id, groups, totalCredits } = await placeOrder(w, org, 'a')
    await w.runTask(place, { group_id: groups[0]!.id })
    assert.deepEqual(
      [(await get(w, org, id)).status, (await balance(w, org))[1]],
      ['processing', totalCredits],
      'it is not given up at once',
    )
    liar.script = { place: () => 400 }
    await step(w, [id])
    const done = await get(w, org, id)
    assert.equal(done.status, 'failed')
    assert.match(done.failureReason, /stopped selling/)
    assert.deepEqual(await balance(w, org), before)
  })
  assert.deepEqual(await orderViolations(w.db), [])
})

const MAX_LOOKS = 700

/** A vendor that talks nonsense is asked for days before it is given up. */
async function givenUp(w: World, id: string): Promise<void> {
  await step(w, [id])
  for (let looks = 0; looks < MAX_LOOKS; looks++) {
    await w.runTask(poll, { order_id: id })
    const { status } = await w.db.selectFrom('imagery_order').select('status').where('id', '=', id).executeTakeFirstOrThrow()
    if (status === 'failed') return
    w.clock.advance({ minutes: 11 })
  }
  throw new Error('the order was never given up')
}
