import assert from 'node:assert/strict'
import { test } from 'node:test'
import { features, grant, placeArchive, square, until, work } from '../orders/support.ts'
import { scene } from '../support/scene.ts'
import { world } from '../support/world.ts'

const WINDOW = { acquisitionStart: '2030-01-02T00:00:00Z', acquisitionEnd: '2030-01-20T00:00:00Z' }

// Goal: a member who could not read a private project learns nothing about it after its deletion, from a list or a single read.
test('row 50: deleted private projects', async (t) => {
  const w = await world(t, { vendors: true, clipUserEmail: 'clip@example.com' })
  const org = await w.organization()
  await grant(w, org, 1_000_000)
  const owner = org.owner.token
  const outsider = await w.join(await w.person('clip@example.com'), org, 'editor') // Clip operations are for one user.
  const insider = await w.member(org, 'editor')
  const project = await w.ok(owner, 'projects.create', { name: 'Hidden valley', visibility: 'private' })
  await w.ok(owner, 'projects.add_member', { project_id: project.id, user_id: insider.id, role: 'editor' })
  const hidden = { ...org, projectId: project.id }

  const archive = (await placeArchive(w, hidden, { displayName: 'Hidden archive order' })).body
  const tasking = async (dataProduct: string) =>
    await w.ok(owner, 'orders.tasking.place', {
      projectId: project.id,
      displayName: 'Hidden tasking order',
      groups: [{ dataProduct, featureCollection: features(square(2.3, 48.2, 0.005)), params: WINDOW }],
    })
  const [studied, quoted] = [await tasking('sandbox-vhr-tasking'), await tasking('sandbox-vhr-quoted')]
  await work(w, [studied.id, quoted.id], until('feasibility_ready', 'quotation_ready'))
  const [study] = (await w.ok(owner, 'orders.tasking.feasibility_studies.list', { orderId: studied.id })).content
  const [quotation] = (await w.ok(owner, 'orders.tasking.quotations.list', { orderId: quoted.id })).content
  await w.ok(owner, 'alerts.create_rule', { name: 'Level', expression: 'b1', comparison: 'gt', threshold: -1 })
  const itemId = (await w.upload(owner, project.id, { 'level.tif': await scene({ width: 64, height: 64, value: () => 5 }) })).body
    .item_ids[0] as string
  await w.evaluateAlerts()
  const [alert] = (await w.ok(owner, 'alerts.events.list')).alert_events
  const jobs = {
    band_math: (
      await w.ok(owner, 'processing.create', {
        project_id: project.id,
        job_type_id: 'band_math',
        input_params: { item_id: itemId, expression: 'b1*2' },
      })
    ).job.id as string,
    clip: (
      await w.ok(owner, 'clip.create_from_item', {
        source_item_id: itemId,
        project_id: project.id,
        aoi_geometry: (await w.ok(owner, 'items.get', { item_id: itemId })).item.geometry,
      })
    ).job.id as string,
  }
  const secrets = [
    project.id,
    archive.id,
    studied.id,
    quoted.id,
    study.id,
    quotation.id,
    alert.id,
    itemId,
    ...Object.values(jobs),
    'Hidden',
  ]

  const report = async (token: string) => {
    const { url } = await w.ok(token, 'reports.generate', { report_type: 'orders', format: 'json' })
    return await (await fetch(url)).text()
  }
  const v2 = async (token: string) =>
    (await w.request('GET', '/v2/orders', { headers: { authorization: `Bearer ${token}` } })).bytes.toString()
  const ofOperation = (id: string) => async (token: string) => (await w.call(token, id, {})).bytes.toString()
  const service = await w.serviceToken(org.id)
  const members = [insider.token, owner]
  const lists: Record<string, { read: (token: string) => Promise<string>; names: string; readers?: string[] }> = {
    'orders.list': { read: ofOperation('orders.list'), names: archive.id },
    '/v2/orders': { read: v2, names: archive.id },
    'orders report': { read: report, names: archive.id },
    'orders.tasking.quotations.list': { read: ofOperation('orders.tasking.quotations.list'), names: quotation.id },
    'orders.tasking.feasibility_studies.list': { read: ofOperation('orders.tasking.feasibility_studies.list'), names: study.id },
    'orders.tasking.decisions.pending': { read: ofOperation('orders.tasking.decisions.pending'), names: quotation.id },
    'processing.jobs.list': { read: ofOperation('processing.jobs.list'), names: jobs.band_math },
    'clip.jobs.list': { read: ofOperation('clip.jobs.list'), names: jobs.clip, readers: [service] },
    'alerts.events.list': { read: ofOperation('alerts.events.list'), names: alert.id },
  }
  const singles: Record<string, object> = {
    'orders.get': { id: archive.id },
    'orders.list_assets': { order_id: archive.id },
    'orders.coverage.get': { order_id: archive.id },
    'processing.job.get': { job_id: jobs.band_math },
    'provenance.get': { entity_type: 'order', entity_id: archive.id },
  }
  const statusesFor = async (token: string): Promise<Record<string, number>> =>
    Object.fromEntries(await Promise.all(Object.entries(singles).map(async ([id, input]) => [id, (await w.call(token, id, input)).status])))

  const before = await statusesFor(insider.token)
  await t.test('before the deletion: the insider reads everything, the outsider nothing', async () => {
    assert.deepEqual(new Set(Object.values(before)), new Set([200]), JSON.stringify(before))
    for (const [name, { read, names, readers = members }] of Object.entries(lists)) {
      for (const token of readers) assert.ok((await read(token)).includes(names), `${name} names it to those who may read it`)
      const shown = await read(outsider.token)
      for (const secret of secrets) assert.ok(!shown.includes(secret), `${name} names ${secret}`)
    }
    for (const [id, status] of Object.entries(await statusesFor(outsider.token))) assert.ok([403, 404].includes(status), `${id}: ${status}`)
  })

  await w.ok(owner, 'projects.delete', { project_id: project.id })

  for (const [name, { read, names, readers = members }] of Object.entries(lists))
    await t.test(`after the deletion: ${name}`, async () => {
      const shown = await read(outsider.token)
      for (const secret of secrets) assert.ok(!shown.includes(secret), `${name} names ${secret}`)
      for (const token of readers) assert.ok((await read(token)).includes(names), 'members of the project still read it')
    })

  await t.test('after the deletion: single reads follow the same rule', async () => {
    for (const [id, status] of Object.entries(await statusesFor(outsider.token))) assert.ok([403, 404].includes(status), `${id}: ${status}`)
    assert.deepEqual(await statusesFor(insider.token), before)
    assert.equal((await w.call(outsider.token, 'clip.job.get', { job_id: jobs.clip })).status, 403)
    assert.equal((await w.call(outsider.token, 'alerts.acknowledge_event', { event_id: alert.id })).status, 404)
  })
})
