import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scene } from '../../../test/support/scene.ts'
import { world } from '../../../test/support/world.ts'
import run from '../../domains/processing/run.task.ts'

// Goal: a client of OGC API Processes lists, describes, executes and follows jobs, with the rights of its credential.
test('OGC API Processes', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  await w.ok(await w.serviceToken(), 'billing.credits.grant', { organization_id: org.id, credits: 1_000, reason: 'for a test' })
  const { token } = org.owner
  const headers = { authorization: `Bearer ${token}` }
  const itemId = (await w.upload(token, org.projectId, { 'a.tif': await scene({ width: 64, height: 64 }) })).body.item_ids[0] as string
  const get = async (path: string) => await w.request('GET', path, { headers })

  const landing = await w.request('GET', '/', { headers: { accept: 'application/json' } })
  assert.ok(landing.body.links.some(({ href }: { href: string }) => href === `${w.baseUrl}/processes`))
  assert.ok((await w.request('GET', '/conformance')).body.conformsTo.length > 3)
  assert.equal((await w.request('GET', '/processes')).status, 401)
  const { body: list } = await get('/processes')
  assert.ok(list.processes.some(({ id }: { id: string }) => id === 'band_math'))
  const { body: described } = await get('/processes/band_math')
  assert.deepEqual([described.inputs.expression.minOccurs, described.inputs.geometry.minOccurs], [1, 0])
  assert.equal((await get('/processes/nothing')).status, 404)

  const inputs = { item_id: itemId, expression: 'b1 + b2' }
  const execution = (body: object, more: Record<string, string> = {}) =>
    w.post('/processes/band_math/execution', body, { ...headers, ...more })
  assert.equal((await execution({ inputs })).status, 422, 'it needs a project')
  assert.equal((await w.post('/processes/band_math/execution', { inputs })).status, 401)
  const started = await execution({ inputs: { ...inputs, project_id: org.projectId } }, { prefer: 'respond-async' })
  assert.deepEqual([started.status, started.body.status, started.headers.get('preference-applied')], [201, 'accepted', 'respond-async'])
  const path = new URL(started.headers.get('location')!).pathname
  assert.equal((await get(`${path}/results`)).status, 404)
  await w.drain(run)
  const { body: done } = await get(path)
  assert.deepEqual([done.status, done.progress, done.type], ['successful', 100, 'process'])
  const { body: results } = await get(`${path}/results`)
  assert.ok(results.items[0].assets[0].href.includes(results.items[0].item_id))
  assert.equal((await get('/jobs')).body.jobs[0].jobID, started.body.jobID)

  const answering = w.post(`/processes/band_math/execution?project_id=${org.projectId}`, { inputs }, headers)
  for (let nth = 0; nth < 500 && (await w.drain(run)) === 0; nth++) await new Promise((resolve) => setImmediate(resolve))
  const { status, body } = await answering
  assert.deepEqual([status, body.items.length], [200, 1])
  assert.equal((await w.request('DELETE', path, { headers })).status, 400, 'it has ended')
})
