import assert from 'node:assert/strict'
import { test } from 'node:test'
import { receiver } from '../../../test/support/receiver.ts'
import { scene } from '../../../test/support/scene.ts'
import { listen } from '../../../test/support/sse.ts'
import { striped } from '../../../test/support/tiff.ts'
import { world, type Org, type World } from '../../../test/support/world.ts'
import convert from '../uploads/convert.task.ts'

/** One band of one value: its mean is that value, wherever it is taken. */
const flat = (value: number) => scene({ bandNames: ['level'], dataType: 'float32', width: 64, height: 64, value: () => value })

const WATCH = { name: 'High water', expression: 'b1', comparison: 'gt', threshold: 10, notification_channels: ['in_app', 'webhook'] }

async function rule(w: World, org: Org, more: object = {}) {
  return (await w.ok(org.owner.token, 'alerts.create_rule', { ...WATCH, ...more })).alert_rule
}
const fired = async (w: World, org: Org, filter: object = {}) => (await w.ok(org.owner.token, 'alerts.events.list', filter)).alert_events
const put = async (w: World, org: Org, value: number, more: object = {}) =>
  (await w.upload(org.owner.token, org.projectId, { 'level.tif': await flat(value) }, more)).body.item_ids[0] as string

// Goal: an item whose mean compares as wanted fires the rule once, and inbox, webhook and stream all tell of it.
test('alerts: from upload to inbox, webhook and stream', async (t) => {
  const endpoint = await receiver(t)
  const w = await world(t, { egressAllow: [endpoint.host] })
  const org = await w.organization()
  await w.ok(org.owner.token, 'event_subscriptions.create', { event_type: 'alert.triggered', endpoint_url: endpoint.url })
  const made = await rule(w, org)
  const stream = await listen(w.baseUrl, org.owner.token)
  const itemId = await put(w, org, 12.5)
  assert.deepEqual(await fired(w, org), [], 'never in the request that made the item')
  assert.equal(await w.evaluateAlerts(), 1)
  const [event] = await fired(w, org)
  assert.deepEqual([event.rule_id, event.item_id, event.computed_value, event.acknowledged], [made.id, itemId, 12.5, false])

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
  await t.test('the inbox of whoever made it says what was found', async () => {
    const [told] = await w.ok(org.owner.token, 'notifications.list')
    assert.deepEqual([told.kind, told.title, told.body], ['alert', 'Alert: High water', 'The mean of b1 is 12.5, above 10, on level'])
  })
  await t.test('acknowledging is kept', async () => {
    const { alert_event: noted } = await w.ok(org.owner.token, 'alerts.acknowledge_event', { event_id: event.id })
    assert.deepEqual([noted.acknowledged, noted.acknowledged_at], [true, w.clock.now().toISOString()])
    assert.equal((await fired(w, org, { acknowledged: false })).length, 0)
    assert.equal((await fired(w, org, { acknowledged: true, rule_id: made.id })).length, 1)
    assert.equal((await w.call(org.owner.token, 'alerts.acknowledge_event', { event_id: org.id })).status, 404)
  })
  await t.test('what does not compare as wanted, other collections and rules that are off keep quiet', async () => {
    const { id: collection_id } = await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name: 'Elsewhere' })
    await rule(w, org, { collection_id, name: 'Of a collection' })
    await rule(w, org, { active: false, name: 'Off' })
    w.clock.advance({ minutes: 61 })
    const again = { ...org, owner: await w.signIn(org.owner, org.id) }
    await put(w, again, 9)
    await w.evaluateAlerts()
    assert.equal((await fired(w, again)).length, 1)
    assert.equal((await w.ok(again.owner.token, 'alerts.rules.list', { active: true })).count, 2)
    assert.equal((await w.ok(again.owner.token, 'alerts.rules.list', { collection_id })).count, 1)
  })
  await t.test('without the channel, no webhook; the stream still knows', async () => {
    const quiet = await w.organization()
    await w.ok(quiet.owner.token, 'event_subscriptions.create', { event_type: 'alert.triggered', endpoint_url: endpoint.url })
    await rule(w, quiet, { notification_channels: ['in_app'] })
    await put(w, quiet, 11)
    await w.evaluateAlerts()
    const before = endpoint.received.length
    await w.deliver()
    assert.equal(endpoint.received.length, before)
    assert.equal((await w.ok(quiet.owner.token, 'notifications.unread_count')).count, 1)
  })
})

// Goal: however many items come at once, a rule fires once in its cooldown, exactly.
test('alerts: cooldown', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { key } = await w.key(org.owner.token, ['read', 'write'])
  const made = await rule(w, org, { cooldown_minutes: 30 })
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
  const { alert_events: events } = await w.ok(key, 'alerts.events.list', { rule_id: made.id })
  assert.equal(events.length, 2)
  assert.equal((await w.db.selectFrom('alert_evaluation').selectAll().execute()).length, 0, 'every question has its answer')
})

// Goal: an item whose pixels come later is looked at when they are there, once; what cannot be read says so and is tried again.
test('alerts: pixels that come later, or never', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const made = await rule(w, org, { event_types: ['item.created', 'item.updated'], threshold: -1, cooldown_minutes: 0 })
  await t.test('a conversion', async () => {
    await w.upload(org.owner.token, org.projectId, { 'plain.tif': striped() })
    await w.evaluateAlerts()
    assert.equal((await fired(w, org)).length, 0)
    assert.equal(await w.evaluateAlerts(), 0, 'it sleeps and does not ask')
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
  await t.test('a file that cannot be read leaves its error with the rule, and is tried again with backoff', async () => {
    await w.ok(org.owner.token, 'items.create', {
      project_id: org.projectId,
      type: 'user_raster',
      name: 'Elsewhere',
      assets: [{ key: 'data', href: 'https://elsewhere.example/a.tif' }],
    })
    assert.equal(await w.evaluateAlerts(), 1)
    const { alert_rule: failing } = await w.ok(org.owner.token, 'alerts.rule.get', { rule_id: made.id })
    assert.match(failing.last_error, /elsewhere|host|allowed/i)
    assert.equal(failing.last_error_at, w.clock.now().toISOString())
    assert.equal(await w.evaluateAlerts(), 0)
    w.clock.advance({ seconds: 11 })
    assert.equal(await w.evaluateAlerts(), 1)
    w.clock.advance({ seconds: 30 })
    assert.equal(await w.evaluateAlerts(), 0)
    const { alert_rule: mended } = await w.ok(org.owner.token, 'alerts.update_rule', { rule_id: made.id, threshold: 0 })
    assert.equal(mended.last_error, null)
  })
})

// Goal: a rule shows nobody more than the person who made it may read.
test('alerts: private projects', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const outsider = await w.member(org)
  const { id: project_id } = await w.ok(org.owner.token, 'projects.create', { name: 'Secret', visibility: 'private' })
  const terms = { ...WATCH, cooldown_minutes: 0 }
  await w.ok(outsider.token, 'alerts.create_rule', terms)
  const mine = await rule(w, org, { cooldown_minutes: 0 })
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

// Goal: a rule that makes no sense is refused with what to change; a trial keeps nothing.
test('alerts: rules and trials', async (t) => {
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
  const made = await rule(w, org)
  assert.equal((await w.call(org.owner.token, 'alerts.update_rule', { rule_id: made.id })).status, 400)
  assert.equal((await w.call(org.owner.token, 'alerts.update_rule', { rule_id: made.id, comparison: 'between' })).status, 400)
  const item_id = await put(w, org, 12)
  const trial = (input: object) => w.call(org.owner.token, 'alerts.test_rule', { item_id, ...input })
  const before = await w.db.selectFrom('alert_event').select('id').execute()
  assert.deepEqual((await trial({ rule_id: made.id })).body, {
    computed_value: 12,
    threshold: 10,
    comparison: 'gt',
    would_trigger: true,
    expression: 'b1',
    item_id,
  })
  const unsaved = { expression: 'level*2', comparison: 'eq', threshold: 24 }
  assert.equal((await trial({ rule: unsaved })).body.would_trigger, true)
  const square = [
    [151, -33.01],
    [151.01, -33.01],
    [151.01, -33],
    [151, -33],
    [151, -33.01],
  ]
  assert.equal((await trial({ rule: { ...unsaved, aoi_geometry: { type: 'Polygon', coordinates: [square] } } })).body.computed_value, 24)
  for (const [input, status] of [
    [{}, 422],
    [{ rule_id: made.id, rule: unsaved }, 422],
    [{ rule: { ...unsaved, expression: 'b9' } }, 400],
    [{ rule: { ...unsaved, expression: 'b1/0' } }, 400],
    [{ rule: { ...unsaved, asset_key: 'other' } }, 400],
  ] as const)
    assert.equal((await trial(input)).status, status, JSON.stringify(input))
  assert.deepEqual(await w.db.selectFrom('alert_event').select('id').execute(), before)
  assert.deepEqual(await w.ok(org.owner.token, 'alerts.delete_rule', { rule_id: made.id }), { deleted: true })
  assert.equal((await w.call(org.owner.token, 'alerts.rule.get', { rule_id: made.id })).status, 404)
})
