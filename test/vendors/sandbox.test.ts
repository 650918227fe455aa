// Goal: the simulated vendors behave as vendors do: the same scenes for the same question, prices, orders that take their time,
// files that are real COGs of what was ordered, and faults where they are asked for.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sqKmOf } from '#core/area.ts'
import type { AreaGeometry, Position } from '#core/geometry.ts'
import { VendorError, type VendorErrorCode } from '#ports/vendors/call.ts'
import type { VendorOrder } from '#ports/vendors/shop.ts'
import { memorySource } from '#raster/source/memory.ts'
import { openTiff } from '#raster/tiff/open.ts'
import { world } from '../support/world.ts'

const AT: Position = [2.3, 48.2]
const JUNE = { from: new Date('2025-06-01T00:00:00Z'), to: new Date('2025-06-30T23:59:59Z') }

const ORDERED = { createdAt: new Date('2026-06-01T00:00:00Z'), expectedCents: null }

const square = ([x, y]: Position, half: number): AreaGeometry => ({
  type: 'Polygon',
  coordinates: [
    [
      [x - half, y - half],
      [x + half, y - half],
      [x + half, y + half],
      [x - half, y + half],
      [x - half, y - half],
    ],
  ],
})
const bboxAt = ([x, y]: Position) => [x, y, x, y] as const

async function failsWith(code: VendorErrorCode, promise: Promise<unknown>): Promise<void> {
  await assert.rejects(promise, (error: unknown) => error instanceof VendorError && error.code === code)
}

async function read(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of bytes) chunks.push(chunk)
  return Buffer.concat(chunks)
}

test('sandbox vendors', async (t) => {
  const w = await world(t, { vendors: true })
  const { vendors } = w.platform.services
  const shop = vendors.shop('sandbox-hr')!
  const catalog = vendors.catalog('sandbox-hr')

  await t.test('a repeated search returns the same scenes, page by page, newest first', async () => {
    const wanted = { bbox: bboxAt(AT), ...JUNE, limit: 7 }
    const first = await catalog.search(wanted)
    assert.deepEqual(await catalog.search(wanted), first)
    const second = await catalog.search({ ...wanted, cursor: first.cursor })
    const all = await catalog.search({ ...wanted, limit: 100 })
    assert.deepEqual([...first.scenes, ...second.scenes], all.scenes.slice(0, 14))
    assert.equal(all.cursor, null)
    assert.equal(all.scenes.length, 30)
    const days = all.scenes.map(({ datetime }) => datetime!)
    assert.deepEqual(days, days.toSorted().reverse())
    const scene = first.scenes[0]!
    assert.equal(scene.productId, vendors.product('sandbox-hr-archive')!.id)
    assert.equal(scene.properties['simulated'], true)
    assert.deepEqual(await catalog.scene(scene.id), scene)
    assert.equal(await catalog.scene('nobody'), null)
    const clear = await catalog.search({ ...wanted, limit: 100, cloudCover: { operator: 'LTE', percent: 10 } })
    assert.deepEqual(
      clear.scenes.map(({ id }) => id),
      all.scenes.filter(({ cloudCover }) => cloudCover! <= 10).map(({ id }) => id),
    )
  })

  await t.test('prices are for the part that a scene covers', async () => {
    const [scene] = (await catalog.search({ bbox: bboxAt(AT), ...JUNE, limit: 1 })).scenes
    const [price, none, far, large] = await shop.price([
      { sceneId: scene!.id, geometry: square(AT, 0.005) },
      { sceneId: 'nobody', geometry: square(AT, 0.005) },
      { sceneId: scene!.id, geometry: square([40, 10], 0.005) },
      { sceneId: scene!.id, geometry: square(AT, 3) },
    ])
    assert.ok(price?.ok && Math.abs(sqKmOf(price.geometry) - sqKmOf(square(AT, 0.005))) < 1e-6)
    assert.ok(price.price.basis === 'area' && price.price.centsPerSqKm > 0 && price.resolutionClass === 'HR 3 m')
    for (const refused of [none!, far!]) assert.ok(!refused.ok && refused.reason.length > 10)
    assert.ok(large!.ok === false || sqKmOf(large!.geometry) < 700)
  })

  await t.test('an order passes its states, and its file is a COG of the ordered area', async () => {
    const { scenes } = await catalog.search({ bbox: bboxAt(AT), ...JUNE, limit: 5, cloudCover: { operator: 'LTE', percent: 30 } })
    const scene = scenes[0]!
    const area = square(AT, 0.004)
    const wanted = {
      reference: 'order-1',
      productId: scene.productId!,
      licenseType: 'standard',
      ...ORDERED,
      captures: [{ sceneId: scene.id, geometry: area }],
    }
    const placed = await shop.placeOrder(wanted)
    assert.equal(placed.status, 'placed')
    assert.deepEqual((await shop.placeOrder(wanted)).id, placed.id, 'the same reference is the same order')
    w.clock.advance({ seconds: 6 })
    assert.equal((await shop.order(placed.id)).status, 'accepted')
    w.clock.advance({ seconds: 6 })
    const done = await delivered(() => shop.order(placed.id))
    assert.equal(done.status, 'delivered')
    const [file] = done.files
    const bytes = await read(shop.download(placed.id, file!.id))
    assert.equal(bytes.length, file!.bytes)
    assert.deepEqual(await read(shop.download(placed.id, file!.id, { offset: 1_000 })), bytes.subarray(1_000))
    const raster = await openTiff(memorySource(bytes))
    assert.equal(raster.info.bandCount, 8)
    assert.equal(raster.info.transform![1], 3)
    const { data } = await raster.readWindow(0, { x: 0, y: 0, width: raster.info.width, height: raster.info.height })
    const valid = [...data[0]!].filter((sample) => sample > 0).length
    assert.ok(Math.abs((valid * 9) / 1e6 / sqKmOf(area) - 1) < 0.02, 'every pixel of the area has a value')
    await failsWith('refused', shop.cancelOrder(placed.id))
  })

  await t.test('an order before production can be cancelled, twice', async () => {
    const [scene] = (await catalog.search({ bbox: bboxAt(AT), ...JUNE, limit: 1 })).scenes
    const captures = [{ sceneId: scene!.id, geometry: square(AT, 0.001) }]
    const { id } = await shop.placeOrder({
      reference: 'order-2',
      productId: scene!.productId!,
      licenseType: 'standard',
      captures,
      ...ORDERED,
    })
    for (const _ of [1, 2]) assert.equal((await shop.cancelOrder(id)).status, 'cancelled')
    await failsWith('not-found', shop.order('00000000-0000-4000-8000-000000000000'))
  })

  await t.test('studies and quotations', async () => {
    const vhr = vendors.shop('sandbox-vhr')!
    const params = { acquisitionStart: '2026-07-01T00:00:00Z', acquisitionEnd: '2026-07-20T00:00:00Z', cloudCoverage: 20 }
    const request = { productId: vendors.product('sandbox-vhr-tasking')!.id, area: square(AT, 0.002), params }
    const study = await vhr.requestStudy({ ...request, reference: 'study-1' })
    assert.equal(study.status, 'waiting')
    const short = { ...params, acquisitionEnd: params.acquisitionStart }
    const hopeless = await vhr.requestStudy({ ...request, reference: 'study-2', params: short })
    const quotation = await vhr.requestQuotation({ ...request, reference: 'quotation-1' })
    w.clock.advance({ seconds: 6 })
    const { status, options } = await vhr.study(study.id)
    assert.equal(status, 'answered')
    assert.equal(options.length, 3)
    assert.ok(options.every(({ cents }) => Number.isInteger(cents) && cents! > 0))
    assert.equal((await vhr.study(hopeless.id)).status, 'infeasible')
    const issued = await vhr.quotation(quotation.id)
    assert.ok(issued.status === 'issued' && issued.cents! > 0)
  })

  await t.test('faults', async () => {
    const flaky = vendors.shop('sandbox-flaky')!
    const search = (id: string, deadlineMs: number) => vendors.catalog('sandbox-flaky').search({ ids: [id], limit: 1 }, { deadlineMs })
    await failsWith('unavailable', search('fail-502', 5_000))
    await failsWith('timeout', search('timeout', 200))
    await failsWith('invalid-response', search('lies', 5_000))
    const productId = vendors.product('sandbox-flaky-archive')!.id
    const place = (reference: string, ids: string[]) =>
      flaky.placeOrder({
        reference,
        productId,
        licenseType: 'standard',
        ...ORDERED,
        captures: ids.map((sceneId) => ({ sceneId, geometry: square(AT, 0.001) })),
      })
    const whole = await place('flaky-1', ['fail-order'])
    const part = await place('flaky-2', ['fail-part', 'half'])
    w.clock.advance({ seconds: 12 })
    assert.equal((await delivered(() => flaky.order(whole.id))).status, 'failed')
    const delivery = await delivered(() => flaky.order(part.id))
    assert.equal(delivery.status, 'part')
    assert.deepEqual(
      delivery.captures.map(({ status }) => status),
      ['failed', 'delivered'],
    )
    await failsWith('unavailable', read(flaky.download(part.id, delivery.files[0]!.id)))
  })
})

/** Files are made in a process of their own: asks until they are there. */
async function delivered(order: () => Promise<VendorOrder>): Promise<VendorOrder> {
  for (let tries = 0; tries < 2_000; tries++) {
    const delivery = await order()
    if (delivery.status !== 'accepted') return delivery
    await pause(50)
  }
  throw new Error('It was never delivered')
}
