import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { receiver } from '../../../test/support/receiver.ts'
import { INSIDE, OPEN_HOST, openHost } from '../../../test/support/open-host.ts'
import { world } from '../../../test/support/world.ts'
import mailOne from '../notifications/mail-one.task.ts'
import run from '../processing/run.task.ts'
import addScenes from './add-scenes.task.ts'
import runDue from './run-due.task.ts'

const START = '2030-01-01T00:00:00.000Z'

async function searching(t: TestContext) {
  const [host, endpoint] = [await openHost(t), await receiver(t)]
  const w = await world(t, { sources: host.sources, egressAllow: [endpoint.host], startAt: START })
  const org = await w.organization()
  let { token } = org.owner
  const terms = { name: 'Fields', area: INSIDE, max_cloud_cover: 40, auto_add: { max_cloud_cover: 20 } }
  const create = async (more: object = {}) =>
    (await w.ok(token, 'saved_searches.create', { project_id: org.projectId, ...terms, ...more })).saved_search
  let count = 0
  const publish = async (more: object = {}) => {
    const id = `scene-${++count}`
    await host.publish({ id, datetime: w.clock.now().toISOString(), cloudCover: 5, ...more })
    return id
  }
  const later = async (amount: { hours?: number; days?: number; minutes?: number }) => {
    w.clock.advance(amount)
    ;({ token } = await w.signIn(org.owner, org.id))
  }
  return {
    host,
    endpoint,
    w,
    org,
    terms,
    create,
    publish,
    later,
    token: () => token,
    ok: (id: string, input: object = {}) => w.ok(token, id, input),
    call: (id: string, input: object = {}) => w.call(token, id, input),
    get: async (id: string) => (await w.ok(token, 'saved_searches.get', { saved_search_id: id })).saved_search,
    sceneIds: async () => {
      const { items } = await w.ok(token, 'items.list', { project_id: org.projectId, limit: 1000 })
      return items.map(({ stac_id }: { stac_id: string }) => stac_id).toSorted() as string[]
    },
    /** What the schedule would do in the next hours. */
    runHourly: async () => {
      await later({ hours: 1, minutes: 11 })
      await w.runTask(runDue)
      return await w.drain(addScenes)
    },
  }
}

// Goal: new scenes below the cloud-cover limit become items, each once; the event reaches inbox, webhook and stream; and alert rules
// apply to them as to any other item.
test('saved searches: from a new scene to an alert', async (t) => {
  const s = await searching(t)
  const { w, endpoint, ok } = s
  await s.publish({ datetime: '2029-12-20T00:00:00.000Z' }) // Acquired before the search was saved.
  await ok('event_subscriptions.create', { event_type: 'saved_search.matched', endpoint_url: endpoint.url })
  const { id: collection_id } = await ok('collections.create', { project_id: s.org.projectId, name: 'New scenes' })
  const search = await s.create({ auto_add: { max_cloud_cover: 20, collection_id } })
  assert.deepEqual(
    [search.auto_add.mode, search.auto_add.max_scenes_per_day, search.active, search.date_from],
    ['reference', 20, true, START],
  )
  await ok('alerts.create_rule', {
    name: 'Greening',
    collection_id,
    expression: '(nir-red)/(nir+red)',
    comparison: 'gt',
    threshold: 0.5,
    notification_channels: ['in_app'],
  })
  assert.equal(await w.drain(addScenes), 1)
  assert.deepEqual(await s.sceneIds(), [])

  await t.test('a new scene is added, a cloudy one is not', async () => {
    await s.later({ minutes: 1 })
    const scene = await s.publish({ values: { red: 100, nir: 500 } })
    await s.publish({ cloudCover: 30 })
    await s.runHourly()
    assert.deepEqual(await s.sceneIds(), [scene])
    const { added_count, last_error, sources, next_run_at } = await s.get(search.id)
    assert.deepEqual([added_count, last_error, sources[0].error], [1, null, null])
    const waitMs = Date.parse(next_run_at) - w.clock.now().getTime()
    assert.ok(waitMs >= 3_600_000 && waitMs <= 4_200_000, String(waitMs))
  })
  await t.test('webhook and inbox report it', async () => {
    await w.deliver()
    const { body } = endpoint.received[0]!
    const { items } = await ok('items.list', { project_id: s.org.projectId })
    assert.deepEqual([body.event_type, body.entity_type, body.entity_id], ['saved_search.matched', 'saved_search', search.id])
    assert.deepEqual(
      [body.data.count, body.data.scenes, body.data.item_ids, body.data.project_id],
      [1, [{ host_name: OPEN_HOST, id: 'scene-2' }], [items[0].id], s.org.projectId],
    )
    const [news] = await ok('notifications.list')
    assert.deepEqual([news.kind, news.title, news.body], ['search', 'New scenes: Fields', 'Added 1 scene to First project.'])
  })
  await t.test('an alert on its NDVI fires', async () => {
    assert.equal(await w.evaluateAlerts(), 1)
    const { alert_events } = await ok('alerts.events.list')
    assert.equal(alert_events.length, 1)
    assert.ok(Math.abs(alert_events[0].computed_value - 2 / 3) < 1e-6, alert_events[0].computed_value)
  })
  await t.test('nothing is added twice, even by concurrent runs, nor after a user has deleted it', async () => {
    const scene = await s.publish()
    await s.later({ hours: 2 })
    const data = { saved_search_id: search.id }
    await Promise.all([w.runTask(addScenes, data), w.runTask(addScenes, data), w.runTask(addScenes, data)])
    assert.deepEqual(await s.sceneIds(), ['scene-2', scene])
    const { items } = await ok('items.list', { project_id: s.org.projectId })
    await ok('items.delete', { item_id: items[0].id })
    await s.runHourly()
    assert.equal((await s.sceneIds()).length, 1)
    const events = await w.db.selectFrom('event').select('id').where('type', '=', 'saved_search.matched').execute()
    assert.equal(events.length, 2)
  })
  await t.test('a scene that is published weeks after its acquisition is still added', async () => {
    const late = await s.publish({ datetime: '2030-01-01T00:30:00.000Z' })
    await s.later({ days: 20 })
    await s.runHourly()
    assert.ok((await s.sceneIds()).includes(late))
  })
  await t.test('copies are jobs, and cost nothing', async () => {
    await ok('saved_searches.update', { saved_search_id: search.id, auto_add: { mode: 'copy', collection_id, max_cloud_cover: 20 } })
    const scene = await s.publish()
    await s.later({ minutes: 1 })
    await w.drain(addScenes)
    await s.runHourly()
    const { jobs } = await ok('processing.jobs.list')
    assert.deepEqual([jobs.length, jobs[0].job_type, jobs[0].reserved_credits], [1, 'scene_copy', 0])
    await w.drain(run)
    const { items } = await ok('items.list', { project_id: s.org.projectId, collection_id })
    const copied = items.find(({ stac_id }: { stac_id: string }) => stac_id === scene)
    assert.deepEqual([copied.type, copied.collection_id, copied.properties.license], ['satellite_capture', collection_id, 'CC-BY-4.0'])
    await s.runHourly()
    assert.equal((await ok('processing.jobs.list')).jobs.length, 1)
  })
  await t.test('a scene that cannot be read is named, and does not hold up the next one', async () => {
    const broken = await s.publish({ bytes: { nir: Buffer.from('<html>Sign in</html>') } })
    await s.later({ minutes: 1 })
    const scene = await s.publish()
    await s.runHourly()
    const { jobs } = await ok('processing.jobs.list')
    assert.equal(jobs.length, 2)
    assert.match((await s.get(search.id)).last_error, new RegExp(`^${broken} cannot be read: .*TIFF`))
    await w.drain(run)
    assert.ok((await s.sceneIds()).includes(scene))
    await s.runHourly()
    assert.equal((await ok('processing.jobs.list')).jobs.length, 2)
  })
})

// Goal: a run is bounded: scenes per day, hosts that fail, hosts that are gone, a full quota, and an organization with many searches
// delay only their own search.
test('saved searches: limits and failures', async (t) => {
  const s = await searching(t)
  const { w, host, ok } = s

  await t.test('the daily limit holds, and the rest follows the next day, oldest first', async () => {
    for (let day = 1; day <= 5; day++) await s.publish({ datetime: `2029-12-1${day}T00:00:00.000Z` })
    const search = await s.create({ date_from: '2029-12-01T00:00:00Z', auto_add: { max_scenes_per_day: 2 } })
    await w.drain(addScenes)
    for (let hour = 0; hour < 3; hour++) await s.runHourly()
    assert.deepEqual(await s.sceneIds(), ['scene-1', 'scene-2'])
    assert.equal((await s.get(search.id)).next_run_at.slice(0, 13), '2030-01-02T00')
    for (let day = 0; day < 3; day++) {
      await s.later({ days: 1 })
      await s.runHourly()
      await s.runHourly()
    }
    assert.deepEqual(await s.sceneIds(), ['scene-1', 'scene-2', 'scene-3', 'scene-4', 'scene-5'])
    await ok('saved_searches.delete', { saved_search_id: search.id })
    assert.equal((await s.sceneIds()).length, 5, 'what it added stays')
  })

  await t.test('a host that fails is named, its scenes are not missed, and it is asked again soon', async () => {
    const search = await s.create()
    await w.drain(addScenes)
    const scene = await s.publish()
    host.script.searchStatus = 503
    await s.runHourly()
    const failed = await s.get(search.id)
    assert.match(failed.last_error, /test-open answered 503/)
    assert.ok(Date.parse(failed.next_run_at) - w.clock.now().getTime() <= 25 * 60_000)
    delete host.script.searchStatus
    await s.runHourly()
    assert.ok((await s.sceneIds()).includes(scene))
    assert.equal((await s.get(search.id)).last_error, null)
    await ok('saved_searches.delete', { saved_search_id: search.id })
  })

  await t.test('a host that is known to be unreachable is not asked', async () => {
    const search = await s.create()
    await w.db
      .insertInto('vendor_host')
      .values({
        host_name: OPEN_HOST,
        status: 'unreachable',
        since: w.clock.now(),
        checked_at: w.clock.now(),
        error: 'x',
        next_probe_at: w.clock.now(),
      })
      .execute()
    const before = host.searches.length
    await w.drain(addScenes)
    assert.equal(host.searches.length, before)
    assert.match((await s.get(search.id)).last_error, /has not responded since/)
    await w.db.deleteFrom('vendor_host').execute()
    await ok('saved_searches.delete', { saved_search_id: search.id })
  })

  await t.test('a run that was killed is repeated when its lease ends', async () => {
    const search = await s.create()
    await w.drain(addScenes)
    const scene = await s.publish()
    await s.later({ hours: 2 })
    await w.runTask(runDue) // The process that takes the task is killed.
    await w.drain({ ...addScenes, run: async () => {} })
    await w.runTask(runDue)
    assert.equal(await w.drain(addScenes), 0, 'not before the lease ends')
    await s.later({ minutes: 15 })
    await w.runTask(runDue)
    assert.equal(await w.drain(addScenes), 1)
    assert.ok((await s.sceneIds()).includes(scene))
    await ok('saved_searches.delete', { saved_search_id: search.id })
  })

  await t.test('an archived project is an error that a user can fix', async () => {
    const search = await s.create()
    await w.drain(addScenes)
    const scene = await s.publish()
    await ok('projects.update', { project_id: s.org.projectId, is_archived: true })
    await s.runHourly()
    assert.match((await s.get(search.id)).last_error, /archived/)
    await ok('projects.update', { project_id: s.org.projectId, is_archived: false })
    await s.runHourly()
    assert.ok((await s.sceneIds()).includes(scene))
    await ok('saved_searches.delete', { saved_search_id: search.id })
  })

  await t.test('an organization with many searches does not delay another', async () => {
    for (let n = 0; n < 50; n++) await s.create({ name: `Search ${n}` })
    const full = await s.call('saved_searches.create', { project_id: s.org.projectId, ...s.terms })
    assert.equal(full.status, 400)
    assert.match(full.body.detail, /50 of 50 saved searches/)
    const other = await w.organization()
    await w.ok(other.owner.token, 'saved_searches.create', { project_id: other.projectId, ...s.terms })
    await w.drain(addScenes)
    await s.later({ hours: 2 })
    await w.runTask(runDue)
    const { rows } = { rows: await w.db.selectFrom('saved_search').select(['org_id', 'next_run_at']).execute() }
    const isClaimed = ({ next_run_at }: { next_run_at: Date }) => next_run_at > w.clock.now()
    assert.equal(rows.filter(isClaimed).length, 20)
    assert.ok(rows.filter(isClaimed).some(({ org_id }) => org_id === other.id))
  })
})

// Goal: viewers read, editors write, others see nothing; who leaves takes their access along; invalid input changes nothing.
test('saved searches: rights and input', async (t) => {
  const s = await searching(t)
  const { w, org, ok, call } = s
  const search = await s.create()
  const saved_search_id = search.id

  await t.test('roles', async () => {
    const [viewer, editor, stranger] = [await w.member(org, 'viewer'), await w.member(org, 'editor'), await w.organization()]
    const status = async (token: string, id: string, input: object = { saved_search_id }) => (await w.call(token, id, input)).status
    assert.equal(await status(viewer.token, 'saved_searches.get'), 200)
    assert.equal((await w.ok(viewer.token, 'saved_searches.list', { project_id: org.projectId })).count, 1)
    for (const id of ['saved_searches.run', 'saved_searches.delete']) assert.equal(await status(viewer.token, id), 403, id)
    assert.equal(await status(viewer.token, 'saved_searches.update', { saved_search_id, name: 'x' }), 403)
    assert.equal(await status(editor.token, 'saved_searches.update', { saved_search_id, name: 'Renamed' }), 200)
    for (const id of ['get', 'run', 'delete']) assert.equal(await status(stranger.owner.token, `saved_searches.${id}`), 404, id)
    assert.equal((await w.ok(stranger.owner.token, 'saved_searches.list')).count, 0)
  })

  await t.test('a run by hand returns scenes, and says which are saved', async () => {
    const first = await s.publish()
    await s.later({ minutes: 1 })
    const second = await s.publish({ cloudCover: 35 })
    await s.later({ minutes: 1 })
    await ok('catalog.scene.save', { host_name: OPEN_HOST, id: first, project_id: org.projectId })
    const { scenes, sources, queued } = await ok('saved_searches.run', { saved_search_id })
    assert.deepEqual(
      scenes.map(({ id, saved }: { id: string; saved: boolean }) => [id, saved]),
      [
        [second, false],
        [first, true],
      ],
    )
    assert.deepEqual([sources, queued], [[{ source_id: OPEN_HOST, count: 2, error: null }], true])
  })

  await t.test('a user who is no longer an editor stops their searches, and admins are told', async () => {
    const editor = await w.member(org, 'editor')
    const own = (await w.ok(editor.token, 'saved_searches.create', { project_id: org.projectId, ...s.terms })).saved_search
    await w.db.updateTable('project_member').set({ role: 'viewer' }).where('user_id', '=', editor.id).execute()
    await s.publish()
    const before = await s.sceneIds()
    await w.runTask(addScenes, { saved_search_id: own.id })
    const paused = await s.get(own.id)
    assert.deepEqual([paused.active, paused.next_run_at], [false, null])
    assert.match(paused.last_error, /no longer an editor/)
    assert.deepEqual(await s.sceneIds(), before)
    assert.ok((await ok('notifications.list')).some(({ title }: { title: string }) => title === 'Saved search paused: Fields'))
    const resumed = (await ok('saved_searches.update', { saved_search_id: own.id, active: true })).saved_search
    assert.deepEqual([resumed.active, resumed.last_error], [true, null])
  })

  await t.test('a member who leaves pauses theirs', async () => {
    const editor = await w.member(org, 'editor')
    const own = (await w.ok(editor.token, 'saved_searches.create', { project_id: org.projectId, ...s.terms })).saved_search
    await ok('organizations.members.remove', { user_id: editor.id })
    assert.equal((await s.get(own.id)).active, false)
  })

  await t.test('invalid terms are rejected with what to change', async () => {
    const base = { project_id: org.projectId, ...s.terms }
    const wide = { type: 'Polygon', coordinates: [[[0, 0], [4, 0], [4, 4], [0, 4], [0, 0]]] } // prettier-ignore
    const refusals: [number, object, RegExp][] = [
      [422, { area: wide }, /50,000 km²/],
      [422, { area: { type: 'Point', coordinates: [0, 0] } }, /Polygon/],
      [422, { source_ids: ['sandbox-vhr'] }, /not an open source; choose from test-open/],
      [422, { collections: ['nothing'] }, /no open source has imagery/],
      [422, { date_from: '2020-01-01T00:00:00Z' }, /366 days/],
      [422, { auto_add: { max_scenes_per_day: 0 } }, /max_scenes_per_day/],
      [422, { auto_add: { mode: 'buy' } }, /mode/],
      [404, { auto_add: { collection_id: org.id } }, /collection/],
      [422, { name: ' ' }, /name/],
    ]
    const before = (await ok('saved_searches.list')).count
    for (const [status, more, pattern] of refusals) {
      const answer = await call('saved_searches.create', { ...base, ...more })
      assert.equal(answer.status, status, `${JSON.stringify(more)}: ${answer.bytes}`)
      assert.match(JSON.stringify(answer.body), pattern)
    }
    assert.equal((await call('saved_searches.update', { saved_search_id })).status, 400)
    assert.equal((await ok('saved_searches.list')).count, before)
  })

  await t.test('a deleted collection pauses the search; a deleted project deletes it', async () => {
    const { id: projectId } = await ok('projects.create', { name: 'Short-lived' })
    const { id: collection_id } = await ok('collections.create', { project_id: projectId, name: 'Soon gone' })
    const own = await s.create({ project_id: projectId, auto_add: { collection_id } })
    await ok('collections.delete', { project_id: projectId, collection_id })
    await w.runTask(addScenes, { saved_search_id: own.id })
    assert.match((await s.get(own.id)).last_error, /collection .* was deleted/)
    await ok('projects.delete', { project_id: projectId })
    assert.equal((await call('saved_searches.get', { saved_search_id: own.id })).status, 404)
    await w.runTask(addScenes, { saved_search_id: own.id })
  })
})

// Goal: a search that only reports tells its user about each new scene once, in the inbox, by webhook and, if they want, by email, and
// adds nothing; however often and concurrently it runs, and whatever is changed in between.
test('saved searches: new scenes are reported, each once', async (t) => {
  const s = await searching(t)
  const { w, endpoint, ok } = s
  const news = async () => (await ok('notifications.list')).filter(({ kind }: { kind: string }) => kind === 'search')
  await w.db.updateTable('app_user').set({ email_confirmed_at: w.clock.now() }).where('id', '=', s.org.owner.id).execute()
  await ok('event_subscriptions.create', { event_type: 'saved_search.matched', endpoint_url: endpoint.url })
  const { coordinates } = INSIDE as { coordinates: number[][][] }
  const far = [[[10, 10], [10.1, 10], [10.1, 10.1], [10, 10]]] // prettier-ignore
  const search = await s.create({
    area: { type: 'MultiPolygon', coordinates: [far, coordinates] },
    auto_add: { mode: 'notify', email: true, max_cloud_cover: 20 },
    display: [{ name: 'sort', value: 'clearest' }],
  })
  assert.deepEqual([search.auto_add.mode, search.auto_add.email, search.area.type], ['notify', true, 'MultiPolygon'])
  assert.deepEqual((await s.get(search.id)).display, [{ name: 'sort', value: 'clearest' }])
  assert.equal(await w.drain(addScenes), 1)

  await t.test('a new scene reaches inbox, webhook and mailbox; a cloudy one does not, and nothing is added', async () => {
    await s.later({ minutes: 1 })
    const scene = await s.publish()
    await s.publish({ cloudCover: 30 })
    await s.runHourly()
    assert.deepEqual(await s.sceneIds(), [])
    const [entry, ...others] = await news()
    assert.deepEqual(others, [])
    assert.match(entry.body, /^1 new scene: .* of 2030-01-01\. Open the saved search in Explore/)
    await w.deliver()
    const { body } = endpoint.received[0]!
    assert.deepEqual(
      [body.data.mode, body.data.count, body.data.scenes, body.data.item_ids],
      ['notify', 1, [{ host_name: OPEN_HOST, id: scene }], []],
    )
    assert.equal(await w.drain(mailOne), 1)
    const [file, ...rest] = readdirSync(w.mailDir)
    assert.deepEqual(rest, [])
    assert.match(readFileSync(path.join(w.mailDir, file!), 'utf8'), /^Subject: New scenes: Fields$/m)
    assert.equal((await s.get(search.id)).added_count, 1)
  })
  await t.test('no scene is reported twice: by later or concurrent runs, nor after the search was changed', async () => {
    await s.runHourly()
    assert.equal((await news()).length, 1)
    await s.publish()
    await s.later({ hours: 2 })
    const data = { saved_search_id: search.id }
    await Promise.all([w.runTask(addScenes, data), w.runTask(addScenes, data), w.runTask(addScenes, data)])
    assert.equal((await news()).length, 2)
    await ok('saved_searches.update', { ...data, area: INSIDE })
    await w.drain(addScenes)
    await s.runHourly()
    assert.deepEqual([(await news()).length, (await s.get(search.id)).added_count], [2, 2])
  })
  await t.test('at most so many per day; the rest follows', async () => {
    await ok('saved_searches.update', {
      saved_search_id: search.id,
      auto_add: { mode: 'notify', max_cloud_cover: 20, max_scenes_per_day: 3 },
    })
    for (let index = 0; index < 5; index++) await s.publish()
    await s.later({ days: 1 })
    await w.runTask(addScenes, { saved_search_id: search.id })
    assert.equal((await s.get(search.id)).added_count, 5)
    await s.later({ days: 1 })
    await w.runTask(addScenes, { saved_search_id: search.id })
    assert.equal((await s.get(search.id)).added_count, 7)
    assert.equal(await w.drain(mailOne), 1) // Of the scene before; this change asked for no email.
  })
  await t.test('a deleted search leaves nothing behind', async () => {
    await ok('saved_searches.delete', { saved_search_id: search.id })
    assert.deepEqual(await w.db.selectFrom('reported_scene').selectAll().execute(), [])
  })
  await t.test('scenes for sale can be reported, but not added; polygons are limited', async () => {
    const refused = async (more: object) => {
      const input = { project_id: s.org.projectId, ...s.terms, ...more }
      const { status, body } = await s.call('saved_searches.create', input)
      assert.equal(status, 422, JSON.stringify(body))
      return JSON.stringify(body)
    }
    assert.match(await refused({ source_ids: ['nowhere'], auto_add: { mode: 'notify' } }), /not a source/)
    const many = Array.from({ length: 11 }, (_, at) => [[[at, 0], [at + 0.1, 0], [at + 0.1, 0.1], [at, 0]]]) // prettier-ignore
    assert.match(await refused({ area: { type: 'MultiPolygon', coordinates: many } }), /11 polygons; the maximum is 10/)
  })
})
