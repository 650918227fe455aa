import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '#core/ids.ts'
import { features, grant, square, until, work } from '../../../test/orders/support.ts'
import { world } from '../../../test/support/world.ts'

const PRODUCT = 'sandbox-vhr-tasking'
const PARAMS = { acquisitionStart: '2030-01-02T00:00:00Z', acquisitionEnd: '2030-01-20T00:00:00Z' }
/** About 900 km² and 290 km². */
const [TOO_LARGE, LARGE] = [square(10, 48, 0.33), square(10, 48, 0.19)]

// Goal: the maximum area of an image is a property of the product, visible before an area is drawn, and applies to each feature.
test('limits of products', async (t) => {
  const w = await world(t, { vendors: true })
  const org = await w.organization()
  const { token } = org.owner
  await grant(w, org, 50_000_000)
  const group = (featureCollection: object, more: object = {}) => ({ dataProduct: PRODUCT, featureCollection, params: PARAMS, ...more })
  const estimate = (...groups: object[]) => w.ok(token, 'orders.tasking.estimate', { groups })
  const place = (...groups: object[]) =>
    w.call(token, 'orders.tasking.place', { projectId: org.projectId, groups }, { 'idempotency-key': newId() })
  const check = (input: object) => w.call(token, 'orders.tasking.feasibility_check', input)

  await t.test('the glossary lists the limit', async () => {
    const { content } = await w.ok(token, 'glossary.data_products.list', { size: 100 })
    const sold = content.filter(({ simulated }: { simulated: boolean }) => simulated)
    assert.ok(sold.length >= 7)
    for (const { name, maxSqKm } of sold) assert.equal(maxSqKm, 400, name)
  })

  await t.test('scattered features are priced and limited individually, not by their bounding box', async () => {
    const near = square(2.3, 48.2)
    const far = square(7.3, 43.2)
    const [first, second, both] = [
      await estimate(group(features(near))),
      await estimate(group(features(far))),
      await estimate(group(features(near, far))),
    ]
    assert.deepEqual(both.errors, [])
    assert.ok(Math.abs(both.groups[0].aoi_km2 - first.groups[0].aoi_km2 - second.groups[0].aoi_km2) < 1e-5)
    assert.ok(Math.abs(both.totalCredits - first.totalCredits - second.totalCredits) <= 2)
    const large = await estimate(group(features(LARGE, far)))
    assert.deepEqual(large.errors, [], 'a feature of less than 400 km² is taken')
    const twice = await estimate(group(features(LARGE, LARGE)))
    assert.equal(twice.totalCredits, (await estimate(group(features(LARGE)))).totalCredits, 'what features share is paid once')
  })

  await t.test('the error of a feature that is too large has its number and the limit', async () => {
    const expected = /^Feature 2 covers 9\d\d\.\d km².*at most 400 km²/
    const { groups, errors } = await estimate(group(features(LARGE)), group(features(LARGE, TOO_LARGE)))
    assert.equal(groups.length, 1)
    assert.equal(errors[0].index, 1)
    assert.match(errors[0].reason, expected)
    const refused = await place(group(features(LARGE, TOO_LARGE)))
    assert.equal(refused.status, 422)
    assert.match(refused.body.errors[0].message, expected)
    const checked = await check(group(features(LARGE, TOO_LARGE)))
    assert.equal(checked.status, 422)
    assert.equal(checked.body.errors[0].field, 'featureCollection.features.1.geometry')
  })

  await t.test('scattered features are delivered as one image each', async () => {
    const featureCollection = features(square(2.3, 48.2, 0.003), square(2.9, 48.6, 0.003))
    const { body, status } = await place(group(featureCollection))
    assert.equal(status, 200, JSON.stringify(body))
    await work(w, [body.id], until('feasibility_ready'))
    const { content } = await w.ok(token, 'orders.tasking.feasibility_studies.list', { orderId: body.id })
    const [study] = content
    await w.ok(token, 'orders.tasking.feasibility_decide', { study_id: study.id, acceptedOptionId: study.options[0].id })
    await work(w, [body.id])
    const done = await w.ok(token, 'orders.get', { id: body.id })
    assert.equal(done.status, 'fulfilled', JSON.stringify(done.groups))
    assert.equal(done.itemIds.length, 2)
  })

  await t.test('an acquisition window in the past is 422 in check, estimate and place', async () => {
    const params = { acquisitionStart: '2029-01-02T00:00:00Z', acquisitionEnd: '2029-12-31T00:00:00Z' }
    const past = group(features(square()), { params })
    const isRefused = ({ status, body }: { status: number; body: { errors: { field: string; message: string }[] } }, field: string) => {
      assert.equal(status, 422, JSON.stringify(body))
      assert.equal(body.errors[0]!.field, field)
      assert.match(body.errors[0]!.message, /in the past/)
    }
    isRefused(await check(past), 'params.acquisitionEnd')
    isRefused(await w.call(token, 'orders.tasking.estimate', { groups: [past] }), 'groups.0.params.acquisitionEnd')
    isRefused(await place(past), 'groups.0.params.acquisitionEnd')
    isRefused(await w.call(token, 'orders.estimate', past), 'params.acquisitionEnd')
  })

  await t.test('an unknown product is an error of its group in an estimate, and 404 in an order', async () => {
    const unknown = group(features(square()), { dataProduct: 'no-such-product' })
    const { groups, errors } = await estimate(unknown, group(features(square())))
    assert.deepEqual([groups[0].index, errors[0].index, errors[0].id], [1, 0, 'no-such-product'])
    assert.match(errors[0].reason, /glossary/)
    assert.equal((await place(unknown)).status, 404)
  })
})
