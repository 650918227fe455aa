import assert from 'node:assert/strict'
import { test } from 'node:test'
import { receiver } from '../../../test/support/receiver.ts'
import { scene } from '../../../test/support/scene.ts'
import { listen } from '../../../test/support/sse.ts'
import { striped } from '../../../test/support/tiff.ts'
import { world, type Org, type World } from '../../../test/support/world.ts'
import convert from '../uploads/convert.task.ts'

/** One band with one value, which is therefore its mean over any area. */
const flat = (value: number) => scene({ bandNames: ['level'], dataType: 'float32', width: 64, height: 64, value: () => value })

const WATCH = { name: 'High water', expression: 'b1', comparison: 'gt', threshold: 10, notification_channels: ['in_app', 'webhook'] }

async function createRule(w: World, org: Org, more: object = {}) {
  return (await w.ok(org.owner.token, 'alerts.create_rule', { ...WATCH, ...more })).alert_rule
}
const fired = async (w: World, org: Org, filter: object = {}) => (await w.ok(org.owner.token, 'alerts.events.list', filter)).alert_events
const put = async (w: World, org: Org, value: number, more: object = {}) =>
  (await w.upload(org.owner.token, org.projectId, { 'level.tif': await flat(value) }, more)).body.item_ids[0] as string

// Goal: an item whose mean meets the comparison fires the rule once, and inbox, webhook and stream all receive the event.
test('alerts: from upload to inbox, webhook and stream', async (t) => {
  const endpoint = await receiver(t)
  const w = await world(t, { egressAllow: [endpoint.host] })
  const org = await w.organization()
  await w.ok(org.owner.token, 'event_subscriptions.create', { event_type: 'alert.triggered', endpoint_url: endpoint.url })
  const rule = await createRule(w, org)
  const stream = await listen(w.baseUrl, org.owner.token)
  const itemId = await put(w, org, 12.5)
  assert.deepEqual(await fired(w, org), [], 'never in the request that creates the item')
  assert.equal(await w.evaluateAlerts(), 1)
  const [event] = await fired(w, org)
  assert.deepEqual([event.rule_id, event.item_id, event.computed_value, event.acknowledged], [rule.id, itemId, 12.5, false])

  await t.test('webhook and stream carry the event', async () => {
    await w.deliver()
    const { body } = endpoint.received[0]!
    assert.deepEqual(
      [body.event_type, body.entity_type, body.entity_id, body.data.computed_value, body.data.item_id, body.data.project_id],
      ['alert.triggered', 'alert_event', event.id, 12.5, itemId, org.projectId],
    )
    await stream.until(3)
    assert.ok(stream.heard.some(({ id, type }) => type === 'alert.triggered' && id === body.event_id))
    stream.cut()
  })
  await t.test('the creator gets a notification with the value', async () => {
    const [notification] = await w.ok(org.owner.token, 'notifications.list')
    assert.deepEqual(
      [notification.kind, notification.title, notification.body],
      ['alert', 'Alert: High water', 'The mean of b1 is 12.5, above 10, on level'],
    )
  })
  await t.test('an acknowledgement is stored', async () => {
    const { alert_event: acknowledged } = await w.ok(org.owner.token, 'alerts.acknowledge_event', { event_id: event.id })
    assert.deepEqual([acknowledged.acknowledged, acknowledged.acknowledged_at], [true, w.clock.now().toISOString()])
    assert.equal((await fired(w, org, { acknowledged: false })).length, 0)
    assert.equal((await fired(w, org, { acknowledged: true, rule_id: rule.id })).length, 1)
    assert.equal((await w.call(org.owner.token, 'alerts.acknowledge_event', { event_id: org.id })).status, 404)
  })
  await t.test('values below the threshold, other collections and inactive rules do not fire', async () => {
    const { id: collection_id } = await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name: 'Elsewhere' })
    await createRule(w, org, { collection_id, name: 'Of a collection' })
    await createRule(w, org, { active: false, name: 'Off' })
    w.clock.advance({ minutes: 61 })
    const again = { ...org, owner: await w.signIn(org.owner, org.id) }
    await put(w, again, 9)
    await w.evaluateAlerts()
    assert.equal((await fired(w, again)).length, 1)
    assert.equal((await w.ok(again.owner.token, 'alerts.rules.list', { active: true })).count, 2)
    assert.equal((await w.ok(again.owner.token, 'alerts.rules.list', { collection_id })).count, 1)
  })
  await t.test('without the webhook channel nothing is delivered, but the user is notified', async () => {
    const quiet = await w.organization()
    await w.ok(quiet.owner.token, 'event_subscriptions.create', { event_type: 'alert.triggered', endpoint_url: endpoint.url })
    await createRule(w, quiet, { notification_channels: ['in_app'] })
    await put(w, quiet, 11)
    await w.evaluateAlerts()
    const before = endpoint.received.length
    await w.deliver()
    assert.equal(endpoint.received.length, before)
    assert.equal((await w.ok(quiet.owner.token, 'notifications.unread_count')).count, 1)
  })
})

// Goal: however many items arrive at once, a rule fires exactly once per cooldown.
test('alerts: cooldown', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { key } = await w.key(org.owner.token, ['read', 'write'])
  const rule = await createRule(w, org, { cooldown_minutes: 30 })
  const source = await put(w, org, 20)
  await w.evaluateAlerts()
  w.clock.advance({ minutes: 29, seconds: 59 })
  const copy = () => w.ok(key, 'items.duplicate', { item_id: source, target_project_id: org.projectId })
  await copy()
  await w.evaluateAlerts()
  assert.equal((await w.ok(key, 'alerts.events.list')).count, 1, 'a second too early')
  w.clock.advance({ seconds: 1 })
  await Promise.all(Array.from({ length: 50 }, copy))
  await Promise.all([w.evaluateAlerts(), w.evaluateAlerts(), w.evaluateAlerts(), w.evaluateAlerts()])
  const { alert_events: events } = await w.ok(key, 'alerts.events.list', { rule_id: rule.id })
  assert.equal(events.length, 2)
  assert.equal((await w.db.selectFrom('alert_evaluation').selectAll().execute()).length, 0, 'every evaluation is done')
})

// Goal: an item whose pixels arrive later is evaluated once they exist; a file that cannot be read leaves an error and is retried.
test('alerts: pixels that arrive later, or never', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const rule = await createRule(w, org, { event_types: ['item.created', 'item.updated'], threshold: -1, cooldown_minutes: 0 })
  await t.test('a conversion', async () => {
    await w.upload(org.owner.token, org.projectId, { 'plain.tif': striped() })
    await w.evaluateAlerts()
    assert.equal((await fired(w, org)).length, 0)
    assert.equal(await w.evaluateAlerts(), 0, 'it waits and does not poll')
    await w.drain(convert)
    await w.evaluateAlerts()
    assert.equal((await fired(w, org)).length, 1)
    await w.evaluateAlerts()
    assert.equal((await fired(w, org)).length, 1)
  })
  await t.test('an item without a raster waits; it fires when an upload brings one', async () => {
    const { id } = await w.ok(org.owner.token, 'items.create', { project_id: org.projectId, type: 'user_raster', name: 'Empty' })
    await w.evaluateAlerts()
    assert.equal((await fired(w, org)).length, 1)
    await put(w, org, 3, { target_item_id: id })
    await w.evaluateAlerts()
    assert.deepEqual((await fired(w, org)).map(({ item_id }: { item_id: string }) => item_id)[0], id)
    assert.equal((await fired(w, org)).length, 2)
  })
  await t.test('a file that cannot be read sets the error of the rule, and is retried with backoff', async () => {
    await w.ok(org.owner.token, 'items.create', {
      project_id: org.projectId,
      type: 'user_raster',
      name: 'Elsewhere',
      assets: [{ key: 'data', href: 'https://elsewhere.example/a.tif' }],
    })
    assert.equal(await w.evaluateAlerts(), 1)
    const { alert_rule: failing } = await w.ok(org.owner.token, 'alerts.rule.get', { rule_id: rule.id })
    assert.match(failing.last_error, /elsewhere|host|allowed/i)
    assert.equal(failing.last_error_at, w.clock.now().toISOString())
    assert.equal(await w.evaluateAlerts(), 0)
    w.clock.advance({ seconds: 11 })
    assert.equal(await w.evaluateAlerts(), 1)
    w.clock.advance({ seconds: 30 })
    assert.equal(await w.evaluateAlerts(), 0)
    const { alert_rule: fixed } = await w.ok(org.owner.token, 'alerts.update_rule', { rule_id: rule.id, threshold: 0 })
    assert.equal(fixed.last_error, null)
  })
})

// Goal: a rule reveals no more than its creator can read.
test('alerts: private projects', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const outsider = await w.member(org)
  const { id: project_id } = await w.ok(org.owner.token, 'projects.create', { name: 'Secret', visibility: 'private' })
  const terms = { ...WATCH, cooldown_minutes: 0 }
  await w.ok(outsider.token, 'alerts.create_rule', terms)
  const mine = await createRule(w, org, { cooldown_minutes: 0 })
  await put(w, { ...org, projectId: project_id }, 50)
  await w.evaluateAlerts()
  assert.deepEqual(
    (await fired(w, org)).map(({ rule_id }: { rule_id: string }) => rule_id),
    [mine.id],
  )
  assert.deepEqual((await w.ok(outsider.token, 'alerts.events.list')).alert_events, [])
  for (const rule_id of ['', 'x']) assert.equal((await w.call(outsider.token, 'alerts.events.list', { rule_id })).status, 404, 'no rule')
  assert.equal((await w.ok(outsider.token, 'notifications.unread_count')).count, 0)
  const [{ id: event_id }] = await fired(w, org)
  assert.equal((await w.call(outsider.token, 'alerts.acknowledge_event', { event_id })).status, 404)
})

// Goal: an invalid rule is rejected with what to change; a test stores nothing.
test('alerts: creating and testing rules', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const create = (more: object) => w.call(org.owner.token, 'alerts.create_rule', { ...WATCH, ...more })
  for (const [more, status] of [
    [{ comparison: 'near' }, 400],
    [{ comparison: 'between' }, 400],
    [{ comparison: 'between', threshold_upper: 9 }, 400],
    [{ expression: 'b1 +' }, 422],
    [{ expression: 'b1;b1' }, 422],
    [{ event_types: ['order.created'] }, 422],
    [{ notification_channels: ['pigeon'] }, 422],
    [{ band_mapping: { 'a b': 1 } }, 422],
    [{ aoi_geometry: { type: 'Point', coordinates: [0, 0] } }, 422],
    [{ collection_id: org.id }, 404],
    [{ expression: '(nir-red)/(nir+red)', band_mapping: { nir: 2 } }, 200],
    [{ comparison: 'between', threshold_upper: 10 }, 200],
  ] as const)
    assert.equal((await create(more)).status, status, JSON.stringify(more))
  const rule = await createRule(w, org)
  assert.equal((await w.call(org.owner.token, 'alerts.update_rule', { rule_id: rule.id })).status, 400)
  assert.equal((await w.call(org.owner.token, 'alerts.update_rule', { rule_id: rule.id, comparison: 'between' })).status, 400)
  const item_id = await put(w, org, 12)
  const testRule = (input: object) => w.call(org.owner.token, 'alerts.test_rule', { item_id, ...input })
  const before = await w.db.selectFrom('alert_event').select('id').execute()
  assert.deepEqual((await testRule({ rule_id: rule.id })).body, {
    computed_value: 12,
    threshold: 10,
    comparison: 'gt',
    would_trigger: true,
    expression: 'b1',
    item_id,
  })
  const unsaved = { expression: 'level*2', comparison: 'eq', threshold: 24 }
  assert.equal((await testRule({ rule: unsaved })).body.would_trigger, true)
  const square = [
    [151, -33.01],
    [151.01, -33.01],
    [151.01, -33],
    [151, -33],
    [151, -33.01],
  ]
  assert.equal((await testRule({ rule: { ...unsaved, aoi_geometry: { type: 'Polygon', coordinates: [square] } } })).body.computed_value, 24)
  for (const [input, status] of [
    [{}, 422],
    [{ rule_id: rule.id, rule: unsaved }, 422],
    [{ rule: { ...unsaved, expression: 'b9' } }, 400],
    [{ rule: { ...unsaved, expression: 'b1/0' } }, 400],
    [{ rule: { ...unsaved, asset_key: 'other' } }, 400],
  ] as const)
    assert.equal((await testRule(input)).status, status, JSON.stringify(input))
  assert.deepEqual(await w.db.selectFrom('alert_event').select('id').execute(), before)
  assert.deepEqual(await w.ok(org.owner.token, 'alerts.delete_rule', { rule_id: rule.id }), { deleted: true })
  assert.equal((await w.call(org.owner.token, 'alerts.rule.get', { rule_id: rule.id })).status, 404)
})
