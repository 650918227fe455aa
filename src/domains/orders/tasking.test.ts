import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '#core/ids.ts'
import { balance, eventsOf, features, grant, square, step, until, work } from '../../../test/orders/support.ts'
import { orderViolations } from '../../../test/orders/invariants.ts'
import { world } from '../../../test/support/world.ts'
import askVendor from './request-terms.task.ts'
import poll from './poll.task.ts'

const PARAMS = { acquisitionStart: '2030-01-02T00:00:00Z', acquisitionEnd: '2030-01-20T00:00:00Z' }
const group = (dataProduct: string, west = 2.3, params: object = PARAMS) => ({
  dataProduct,
  featureCollection: features(square(west, 48.2, 0.005)),
  params,
})

// Goal: a tasking order is agreed step by step, reserves nothing before a price is accepted, and is charged on delivery.
test('tasking', async (t) => {
  const w = await world(t, { vendors: true })
  const org = await w.organization()
  await grant(w, org, 1_000_000)
  const { token } = org.owner
  const place = (groups: object[], more: object = {}) =>
    w.ok(token, 'orders.tasking.place', { projectId: org.projectId, displayName: 'New', groups, ...more }, { 'idempotency-key': newId() })
  const get = (id: string) => w.ok(token, 'orders.get', { id })
  const studyOf = async (orderId: string) => (await w.ok(token, 'orders.tasking.feasibility_studies.list', { orderId })).content[0]
  const quotationOf = async (orderId: string) => (await w.ok(token, 'orders.tasking.quotations.list', { orderId })).content[0]

  await t.test('sensors, passes, feasibility check and estimate', async () => {
    const { sensors } = await w.ok(token, 'orders.tasking.sensors')
    assert.deepEqual(sensors[0].satellites.length, 3)
    assert.ok(sensors[0].dataProducts.length >= 3)
    const passes = await w.ok(token, 'orders.tasking.opportunities_list', { ...group('sandbox-vhr-tasking'), size: 5 })
    assert.equal(passes.content.length, 5)
    assert.ok(passes.totalElements > 5)
    for (const { offNadirDeg, start, end } of passes.content)
      assert.ok(offNadirDeg <= 30 && start < end && start >= PARAMS.acquisitionStart)
    const check = (product: string) => w.ok(token, 'orders.tasking.feasibility_check', group(product))
    assert.equal((await check('sandbox-vhr-tasking')).studyRequired, true)
    assert.equal((await check('sandbox-vhr-quoted')).studyRequired, false)
    const estimate = await w.ok(token, 'orders.tasking.estimate', { groups: [group('sandbox-vhr-tasking'), group('sandbox-vhr-quoted')] })
    assert.deepEqual([estimate.groups.length, estimate.errors], [2, []])
    assert.equal(estimate.totalAud * 100, estimate.totalCredits)
    const schema = await w.ok(token, 'orders.get_schema', { data_product_id: 'sandbox-vhr-tasking' })
    assert.ok(schema.required.includes('acquisitionStart'))
    const errorsOf = async (params: object) => {
      const { status, body } = await w.call(token, 'orders.tasking.feasibility_check', group('sandbox-vhr-tasking', 2.3, params))
      assert.equal(status, 422)
      return body.errors.map(({ field, message }: { field: string; message: string }) => `${field} ${message}`)
    }
    const [start, end] = await errorsOf({})
    assert.match(`${start}, ${end}`, /^params\.acquisitionStart is required.*, params\.acquisitionEnd is required/)
    const [unknown, ...more] = await errorsOf({ ...PARAMS, colour: 'red' })
    assert.match(unknown, /^params\.colour is not a parameter of 'sandbox-vhr-tasking', which takes acquisitionEnd, acquisitionStart, /)
    assert.deepEqual(more, [])
    assert.equal((await w.call(token, 'orders.tasking.feasibility_check', group('sandbox-hr-archive'))).status, 400)
    assert.equal((await w.call(token, 'orders.tasking.feasibility_check', group('nothing'))).status, 404)
  })

  await t.test('with a study: an option is accepted, reserved, acquired and delivered', async () => {
    const before = await balance(w, org)
    const placed = await place([group('sandbox-vhr-tasking')])
    assert.deepEqual([placed.status, placed.subStatus, placed.totalCredits], ['pending', 'awaiting_feasibility', 0])
    assert.ok(placed.estimatedCredits > 0)
    assert.equal(placed.totalAud, placed.estimatedCredits / 100, 'before the firm charge')
    const waiting = await studyOf(placed.id)
    assert.equal((await w.call(token, 'orders.tasking.feasibility_decide', { study_id: waiting.id, acceptedOptionId: 'x' })).status, 400)
    await work(w, [placed.id], until('feasibility_ready'))
    const study = await studyOf(placed.id)
    assert.deepEqual([study.state, study.decision, study.options.length], ['answered', 'NOT_DECIDED', 3])
    assert.equal((await w.ok(token, 'orders.tasking.decisions.pending')).studies[0].id, study.id)
    const decide = (acceptedOptionId: string, more: object = {}) =>
      w.call(token, 'orders.tasking.feasibility_decide', { study_id: study.id, acceptedOptionId, ...more })
    assert.equal((await decide('none')).status, 404)
    const [option] = study.options
    assert.equal((await decide(option.id, { maxCredits: 1 })).status, 400)
    assert.deepEqual(await balance(w, org), before, 'nothing is reserved yet')
    const decided = await decide(option.id)
    assert.deepEqual([decided.status, decided.body.decision, decided.body.acceptedOptionId], [200, 'ACCEPTED', option.id])
    assert.equal((await decide(option.id)).status, 400, 'once')
    assert.deepEqual(await balance(w, org), [before[0] - option.credits, option.credits])
    assert.deepEqual([(await get(placed.id)).status, (await get(placed.id)).subStatus], ['processing', 'accepted'])
    await work(w, [placed.id])
    const done = await get(placed.id)
    assert.deepEqual([done.status, done.capturedCredits, done.itemIds.length], ['fulfilled', option.credits, 1], done.failureReason)
    assert.deepEqual(await eventsOf(w, placed.id), ['order.created', 'order.placed', 'order.being_fulfilled', 'order.fulfilled'])
    assert.deepEqual(await eventsOf(w, study.id), ['feasibility.requested', 'feasibility.answered'])
  })

  await t.test('with a quotation: rejected, it closes without a charge; accepted, it is reserved', async () => {
    const before = await balance(w, org)
    const [no, yes] = [await place([group('sandbox-vhr-quoted')]), await place([group('sandbox-vhr-quoted')])]
    assert.equal(no.subStatus, 'awaiting_quotation')
    await work(w, [no.id, yes.id], until('quotation_ready'))
    const decide = (id: string, decision: string) => w.call(token, 'orders.tasking.quotation_decide', { quotation_id: id, decision })
    const rejected = await quotationOf(no.id)
    assert.equal(rejected.state, 'issued')
    const decided = (await decide(rejected.id, 'REJECTED')).body
    assert.deepEqual([decided.decision, decided.state], ['REJECTED', 'decided'])
    assert.equal((await decide(rejected.id, 'REJECTED')).status, 400)
    assert.deepEqual([(await get(no.id)).status, (await get(no.id)).subStatus], ['cancelled', 'rejected'])
    assert.deepEqual(await balance(w, org), before)
    const accepted = await quotationOf(yes.id)
    assert.equal((await decide(accepted.id, 'ACCEPTED')).status, 200)
    assert.deepEqual(await balance(w, org), [before[0] - accepted.creditsPrice, accepted.creditsPrice])
    assert.equal((await decide(accepted.id, 'REJECTED')).status, 400)
    await w.ok(token, 'orders.cancel', { id: yes.id })
    assert.deepEqual(await balance(w, org), before)
    assert.deepEqual(await eventsOf(w, rejected.id), ['quotation.requested', 'quotation.rejected'])
    assert.deepEqual(await eventsOf(w, accepted.id), ['quotation.requested', 'quotation.accepted'])
  })

  await t.test('notifications about both name the order', async () => {
    const notifications = await w.db.selectFrom('notification').select(['title', 'body']).where('kind', '=', 'decision').execute()
    assert.ok(notifications.some(({ body }) => body === "The feasibility study for 'New' has 3 options to choose from."))
    assert.ok(notifications.some(({ title }) => title === "Quotation requested for 'New'"))
  })

  await t.test('a quotation is requested, issued, then decided or expired, and only an issued one can be decided', async () => {
    const { id: orderId } = await place([group('sandbox-vhr-quoted')])
    const decide = async (id: string) =>
      (await w.call(token, 'orders.tasking.quotation_decide', { quotation_id: id, decision: 'ACCEPTED' })).status
    await w.runTask(askVendor, { group_id: (await get(orderId)).groups[0].id })
    const requested = await quotationOf(orderId)
    assert.deepEqual([requested.state, requested.decision, requested.creditsPrice], ['requested', 'NOT_DECIDED', null])
    assert.equal(await decide(requested.id), 400)
    await work(w, [orderId], until('quotation_ready'))
    const issued = await quotationOf(orderId)
    assert.deepEqual([issued.id, issued.state, issued.decision], [requested.id, 'issued', 'NOT_DECIDED'])
    await w.ok(token, 'orders.cancel', { id: orderId })
    assert.deepEqual([(await quotationOf(orderId)).state, await decide(issued.id)], ['expired', 400], 'its order has ended')
  })

  await t.test('two groups: one reservation grows with each acceptance, and the order is sent when both are decided', async () => {
    const before = await balance(w, org)
    const placed = await place([group('sandbox-vhr-tasking'), group('sandbox-vhr-quoted', 2.31)])
    for (let round = 0; round < 5; round++) await step(w, [placed.id])
    const [study, quote] = [await studyOf(placed.id), await quotationOf(placed.id)]
    assert.deepEqual([study.state, quote.state, (await get(placed.id)).subStatus], ['answered', 'issued', 'feasibility_ready'])
    await w.ok(token, 'orders.tasking.quotation_decide', { quotation_id: quote.id, decision: 'ACCEPTED' })
    assert.deepEqual([(await get(placed.id)).status, (await balance(w, org))[1]], ['pending', quote.creditsPrice])
    await w.ok(token, 'orders.tasking.feasibility_decide', { study_id: study.id, acceptedOptionId: study.options[0].id })
    assert.deepEqual(
      [(await get(placed.id)).status, (await balance(w, org))[1]],
      ['processing', quote.creditsPrice + study.options[0].credits],
    )
    await w.ok(token, 'orders.cancel', { id: placed.id })
    assert.deepEqual(await balance(w, org), before)
  })

  await t.test('infeasible orders, and those without a decision in 30 days, are cancelled', async () => {
    const impossible = await place([group('sandbox-vhr-tasking', 2.3, { ...PARAMS, cloudCoverage: 1 })])
    await work(w, [impossible.id])
    assert.deepEqual(
      [(await get(impossible.id)).status, /less than 5% cloud cover/i.test((await get(impossible.id)).failureReason)],
      ['cancelled', true],
    )
    const forgotten = await place([group('sandbox-vhr-tasking')])
    await work(w, [forgotten.id], until('feasibility_ready'))
    const study = await studyOf(forgotten.id)
    w.clock.advance({ days: 31 })
    Object.assign(org.owner, await w.signIn(org.owner, org.id))
    assert.equal(
      (await w.call(org.owner.token, 'orders.tasking.feasibility_decide', { study_id: study.id, acceptedOptionId: study.options[0].id }))
        .status,
      400,
    )
    await w.runTask(poll, { order_id: forgotten.id })
    assert.equal((await w.ok(org.owner.token, 'orders.get', { id: forgotten.id })).status, 'cancelled')
  })
  assert.deepEqual(await orderViolations(w.db), [])
})

// Goal: for a vendor without an API, staff advance an order by hand, with the same payments, lineage and events.
test('orders advanced by staff', async (t) => {
  const w = await world(t, { vendors: true })
  const org = await w.organization()
  await grant(w, org, 1_000_000)
  const staff = await w.serviceToken()
  const place = (product: string) =>
    w.ok(org.owner.token, 'orders.tasking.place', { projectId: org.projectId, groups: [group(product)] }, { 'idempotency-key': newId() })

  await t.test('a study is answered, its option accepted, the vendor accepts, and uploaded items are the delivery', async () => {
    const { id: orderId } = await place('sandbox-vhr-tasking')
    const { content } = await w.ok(org.owner.token, 'orders.tasking.feasibility_studies.list', { orderId })
    const options = [
      { description: 'Next week', credits: 500, acquisitionStart: '2030-01-02T00:00:00Z', acquisitionEnd: '2030-01-09T00:00:00Z' },
    ]
    const study = await w.ok(staff, 'orders.tasking.study_answer', { study_id: content[0].id, options })
    assert.equal((await w.call(staff, 'orders.tasking.study_answer', { study_id: content[0].id, options })).status, 400)
    await w.ok(org.owner.token, 'orders.tasking.feasibility_decide', { study_id: study.id, acceptedOptionId: study.options[0].id })
    assert.equal((await w.ok(staff, 'orders.advance', { order_id: orderId, to: 'awaiting_data' })).status, 'awaiting_data')
    const { id: itemId } = await w.ok(org.owner.token, 'items.create', {
      project_id: org.projectId,
      type: 'satellite_capture',
      name: 'Came by mail',
      assets: [{ key: 'data', href: 'https://data.example/a.tif' }],
    })
    assert.equal((await w.call(staff, 'orders.advance', { order_id: orderId, to: 'fulfilled' })).status, 422)
    const done = await w.ok(staff, 'orders.advance', { order_id: orderId, to: 'fulfilled', item_ids: [itemId] })
    assert.deepEqual([done.status, done.capturedCredits, done.itemIds], ['fulfilled', 500, [itemId]])
    assert.equal((await w.call(staff, 'orders.advance', { order_id: orderId, to: 'failed', reason: 'x' })).status, 400)
    assert.equal((await w.call(org.owner.token, 'orders.advance', { order_id: orderId, to: 'failed', reason: 'x' })).status, 403)
  })

  await t.test('one delivery ends two open groups: each item is listed once, in the order and in its event', async () => {
    const groups = [group('sandbox-vhr-quoted'), group('sandbox-vhr-quoted', 2.32)]
    const { id: orderId, groups: placedGroups } = await w.ok(org.owner.token, 'orders.tasking.place', { projectId: org.projectId, groups })
    for (const { id: group_id } of placedGroups)
      await w.ok(staff, 'orders.tasking.quotation_issue', { order_id: orderId, group_id, credits: 300 })
    for (const { id } of (await w.ok(org.owner.token, 'orders.tasking.quotations.list', { orderId })).content)
      await w.ok(org.owner.token, 'orders.tasking.quotation_decide', { quotation_id: id, decision: 'ACCEPTED' })
    const item = { project_id: org.projectId, type: 'satellite_capture', assets: [{ key: 'data', href: 'https://data.example/a.tif' }] }
    const item_ids = [
      (await w.ok(org.owner.token, 'items.create', { ...item, name: 'North' })).id,
      (await w.ok(org.owner.token, 'items.create', { ...item, name: 'South' })).id,
    ]
    const done = await w.ok(staff, 'orders.advance', { order_id: orderId, to: 'fulfilled', item_ids })
    assert.deepEqual([done.status, done.itemIds, done.capturedCredits], ['fulfilled', item_ids, 600])
    const emitted = await w.db
      .selectFrom('event')
      .select('data')
      .where('entity_id', '=', orderId)
      .where('type', '=', 'order.fulfilled')
      .execute()
    assert.deepEqual(
      emitted.map(({ data }) => (data as { item_ids: string[] }).item_ids),
      [item_ids],
    )
  })

  await t.test('a quotation is issued and accepted, then the order fails: all credits are released', async () => {
    const before = await balance(w, org)
    const { id: orderId } = await place('sandbox-vhr-quoted')
    const quotation = await w.ok(staff, 'orders.tasking.quotation_issue', { order_id: orderId, credits: 700 })
    assert.equal((await w.call(staff, 'orders.tasking.quotation_issue', { order_id: orderId, credits: 700 })).status, 400)
    await w.ok(org.owner.token, 'orders.tasking.quotation_decide', { quotation_id: quotation.id, decision: 'ACCEPTED' })
    assert.equal((await balance(w, org))[1], 700)
    const failed = await w.ok(staff, 'orders.advance', { order_id: orderId, to: 'failed', reason: 'The satellite is lost' })
    assert.deepEqual([failed.status, failed.failureReason], ['failed', 'The satellite is lost'])
    assert.deepEqual(await balance(w, org), before)
  })
  assert.deepEqual(await orderViolations(w.db), [])
})

// Goal: tasking templates are saved by name, within the organization.
test('templates', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { token } = org.owner
  const settings = { resolution: '0.5 m', sensor: 'sandbox-vhr', capture_frequency: 'once', datum: 'WGS84', file_format: 'COG' }
  const first = await w.ok(token, 'orders.tasking.templates.save', { name: 'Coast', ...settings })
  const again = await w.ok(token, 'orders.tasking.templates.save', { name: 'Coast', ...settings, max_cloud_coverage: 30 })
  assert.equal(again.id, first.id, 'the same name is the same template')
  const { templates } = await w.ok(token, 'orders.tasking.templates.list')
  assert.deepEqual([templates.length, templates[0].max_cloud_coverage, templates[0].capture_asap], [1, 30, true])
  const stranger = await w.organization()
  assert.equal((await w.call(stranger.owner.token, 'orders.tasking.templates.delete', { template_id: first.id })).status, 404)
  assert.deepEqual(await w.ok(token, 'orders.tasking.templates.delete', { template_id: first.id }), {
    template_id: first.id,
    deleted: true,
  })
  assert.equal((await w.call(token, 'orders.tasking.templates.delete', { template_id: first.id })).status, 404)
})
