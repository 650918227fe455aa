import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { newId } from '#core/ids.ts'
import { claimPlacing, endPlacing, keepPlacing } from '#model/orders/order-group.ts'
import { balance, eventsOf, grant, square, step, until, work } from '../../../test/orders/support.ts'
import { orderViolations } from '../../../test/orders/invariants.ts'
import { startLiar, type Script } from '../../../test/orders/liar.ts'
import { scene, type Scene } from '../../../test/support/scene.ts'
import { world, type Org, type World } from '../../../test/support/world.ts'
import run from '../processing/run.task.ts'
import place from './place.task.ts'
import poll from './poll.task.ts'

/** A raster that covers the area of the orders, 0.01° × 0.01°, or a part of it. */
const raster = (more: Scene = {}) =>
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

/** All objects in the store's folder, to find leftovers of failed deliveries. */
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

/** A vendor that delivers immediately, with these files and bytes. */
const delivering = (files: (ids: string[]) => object[], bytes: Uint8Array, more: { breaksAt?: number } = {}): Script => ({
  look: (view) => ({
    ...view,
    status: 'delivered',
    captures: view.captures.map((capture) => ({ ...capture, status: 'delivered' })),
    files: files(view.captures.map(({ scene_id }) => scene_id)),
  }),
  file: () => ({ bytes, ...more }),
})

// Goal: a vendor is trusted only as far as its files show: an order with a wrong delivery fails with a reason, and is released.
test('vendors that deliver something else', async (t) => {
  const liar = await startLiar(t)
  const w = await world(t, { sources: liar.sources, hostDeadlineFactor: 1 })
  const org = await w.organization()
  await grant(w, org, 1_000_000)
  const whole = await raster()
  const whatIsOrdered = (bytes: number | null) => (ids: string[]) => ids.map((id) => fileOf(id, bytes))

  const lies: Record<string, [script: Script, reason: RegExp]> = {
    'accepts another order than ours': [{ place: (view) => ({ ...view, reference: newId() }) }, /another object than requested/],
    'confirms with an unreadable response': [{ place: () => ({ id: 7, status: 'perhaps' }) }, /invalid order/],
    'does not know the order': [{ look: () => 404 }, /no such order/],
    'returns another order': [{ look: (view) => ({ ...view, id: 'v-other', status: 'delivered' }) }, /another object than requested/],
    'delivers no files': [delivering(() => [], whole), /a delivery without files/],
    'delivers a scene that was not ordered': [
      delivering((ids) => [...ids, 'stray'].map((id) => fileOf(id, whole.length)), whole),
      /stray, which was not ordered/,
    ],
    'delivers a file twice': [
      delivering((ids) => [...ids, ...ids].map((id) => fileOf(id, whole.length)), whole),
      /the same file more than once/,
    ],
    'delivers a file that is not a raster': [delivering(whatIsOrdered(5), Buffer.from('hello')), /cannot be read/],
    'delivers a truncated file with its actual size': [delivering(whatIsOrdered(900), whole.subarray(0, 900)), /cannot be read/],
    'delivers a file that is shorter than stated': [delivering(whatIsOrdered(whole.length + 1), whole), /sandbox-hr/],
    'delivers a file that is longer than stated': [delivering(whatIsOrdered(whole.length - 1), whole), /delivered more than/],
    'interrupts every download at the same byte': [delivering(whatIsOrdered(whole.length), whole, { breaksAt: 1_000 }), /sandbox-hr/],
    'delivers a file with another checksum': [
      delivering((ids) => ids.map((id) => ({ ...fileOf(id, whole.length), sha256: '0'.repeat(64) })), whole),
      /with another sha256 than stated/,
    ],
    'delivers a file with another md5': [
      delivering((ids) => ids.map((id) => ({ ...fileOf(id, whole.length), md5: '0'.repeat(32) })), whole),
      /with another md5 than stated/,
    ],
    'delivers a mask without an image': [
      delivering((ids) => ids.map((id) => ({ ...fileOf(id, whole.length), role: 'mask' })), whole),
      /delivered no image of a/,
    ],
    'delivers two files as the same asset': [
      delivering((ids) => ids.flatMap((id) => ['1', '2'].map((part) => ({ ...fileOf(id, null), id: part, item_key: id }))), whole),
      /two files as the asset .data. of a/,
    ],
    'delivers a file of another area': [delivering(whatIsOrdered(null), await raster({ west: 12.3 })), /does not cover the ordered area/],
  }
  for (const [lie, [script, reason]] of Object.entries(lies))
    await t.test(lie, async () => {
      liar.script = script
      const before = await balance(w, org)
      const files = storedFiles(w)
      const { id } = await placeOrder(w, org, 'a')
      if (lie === 'returns another order') await givenUp(w, id)
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

  await t.test('delivers an image, its mask and its metadata: one item with three files, whose clouds come from the mask', async () => {
    const files = {
      image: whole,
      mask: await raster({ bandNames: ['cloud'], value: (_band, x) => (x < 25 ? 1 : 0) }),
      notes: Buffer.from('{"sensor": "x"}'),
    }
    const hashOf = (name: 'sha256' | 'md5', bytes: Uint8Array) => createHash(name).update(bytes).digest('hex')
    liar.script = {
      ...delivering(
        (ids) =>
          ids.flatMap((id) => [
            { ...fileOf(id, files.image.length), id: 'image', item_key: id, sha256: hashOf('sha256', files.image) },
            {
              ...fileOf(id, files.mask.length),
              id: 'mask',
              item_key: id,
              asset_key: 'udm2',
              role: 'mask',
              md5: hashOf('md5', files.mask),
              bands: [],
            },
            {
              ...fileOf(id, null),
              id: 'notes',
              item_key: id,
              asset_key: 'metadata',
              role: 'metadata',
              media_type: 'application/json',
              datetime: null,
            },
          ]),
        whole,
      ),
      file: (id) => ({ bytes: files[id as keyof typeof files] }),
    }
    const { id } = await placeOrder(w, org, 'a')
    await work(w, [id])
    const done = await get(w, org, id)
    assert.deepEqual([done.status, done.itemIds.length], ['fulfilled', 1], JSON.stringify(done))
    const stored = await w.db
      .selectFrom('asset')
      .innerJoin('item', 'item.seq', 'asset.item_seq')
      .select(['asset.key', 'asset.roles', 'asset.sha256'])
      .where('item.id', '=', done.itemIds[0])
      .orderBy('asset.key')
      .execute()
    assert.deepEqual(
      stored.map(({ key, roles }) => [key, roles]),
      [
        ['data', ['data']],
        ['metadata', ['metadata']],
        ['udm2', ['mask']],
      ],
    )
    assert.equal(stored[1]!.sha256!.toString('hex'), hashOf('sha256', files.notes), 'kept as it is')
    const { job } = await w.ok(org.owner.token, 'processing.create_and_dispatch', {
      project_id: org.projectId,
      job_type_id: 'cloud_mask',
      input_params: { item_id: done.itemIds[0], mask_asset_key: 'udm2' },
    })
    await w.drain(run)
    const { job: masked } = await w.ok(org.owner.token, 'processing.job.get', { job_id: job.id })
    assert.deepEqual([masked.status, masked.output_artifacts?.cloud_cover], ['completed', 25], masked.error)
  })

  await t.test('reports a complete delivery, but one of two scenes has no file: only the other is charged', async () => {
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

  await t.test('reports full coverage, but the file shows half of the area: half is charged', async () => {
    const half = await raster({ width: 50 })
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
    assert.equal(liar.asked.length, asked, 'an order that has ended is not polled')
  })

  await t.test('times out: polled again later, and the later response counts', async () => {
    liar.script = { place: () => 'hang' }
    const before = await balance(w, org)
    const { id, groups, totalCredits } = await placeOrder(w, org, 'a')
    await w.runTask(place, { group_id: groups[0]!.id })
    assert.deepEqual([(await get(w, org, id)).status, (await balance(w, org))[1]], ['processing', totalCredits], 'not failed at once')
    liar.script = { place: () => 400 }
    await step(w, [id])
    const done = await get(w, org, id)
    assert.equal(done.status, 'failed')
    assert.match(done.failureReason, /stopped selling/)
    assert.deepEqual(await balance(w, org), before)
  })

  await t.test('a heartbeat that arrives after the end of its run does not claim the placement again', async () => {
    const { groups } = await placeOrder(w, org, 'a')
    const { id } = groups[0]!
    const first = await claimPlacing(w.db, id, w.clock.now())
    assert.ok(first && (await keepPlacing(w.db, first, w.clock.now())))
    await endPlacing(w.db, first)
    assert.equal(await keepPlacing(w.db, first, w.clock.now()), false)
    const second = await claimPlacing(w.db, id, w.clock.now())
    assert.ok(second, 'the next run does not wait for a claim that nobody holds')
    await endPlacing(w.db, second)
  })
  assert.deepEqual(await orderViolations(w.db), [])
})

const MAX_POLLS = 700

/** A vendor with invalid responses is polled for days before the order fails. */
async function givenUp(w: World, id: string): Promise<void> {
  await step(w, [id])
  for (let polls = 0; polls < MAX_POLLS; polls++) {
    await w.runTask(poll, { order_id: id })
    const { status } = await w.db.selectFrom('imagery_order').select('status').where('id', '=', id).executeTakeFirstOrThrow()
    if (status === 'failed') return
    w.clock.advance({ minutes: 11 })
  }
  throw new Error('the order never failed')
}
