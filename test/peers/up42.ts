/**
 * Goal: up42-py, pointed here, finds collections, scenes, schemas, orders, coverage, jobs, budgets and items as at UP42.
 *
 * Run: npm test -- test/peers/up42.ts. UP42_PYTHON is a Python with up42-py (`.ci/requirements-up42.txt`), which asks for an older
 * pystac-client than the other peers; skips where there is none.
 */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import path from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import run from '#domains/processing/run.task.ts'
import { features, grant, scenes, square } from '../orders/support.ts'
import { scene } from '../support/scene.ts'
import { world } from '../support/world.ts'

const PYTHON = process.env['UP42_PYTHON'] ?? 'python3'
const skip = spawnSync(PYTHON, ['-c', 'import up42']).status === 0 ? false : 'There is no Python with up42-py on this machine'

test('up42-py', { skip }, async (t) => {
  const w = await world(t, { vendors: true })
  const org = await w.organization()
  const { token } = org.owner
  await grant(w, org, 1_000_000)
  const itemId = (await w.upload(token, org.projectId, { 'a.tif': await scene({ width: 32, height: 32 }) })).body.item_ids[0] as string
  const [first] = await scenes(w)
  const headers = { authorization: `Bearer ${token}` }
  const body = { dataProduct: 'sandbox-hr-archive', displayName: 'x', params: { id: first!.id }, featureCollection: features(square()) }
  const placed = await w.post(`/v2/orders?workspaceId=${org.projectId}`, body, headers)
  const orderId = placed.body.results[0].id as string
  const jobs: string[] = []
  for (const expression of ['b1', 'b1*2', 'b1*3']) {
    const input_params = { item_id: itemId, expression }
    const { job } = await w.ok(token, 'processing.create_and_dispatch', {
      project_id: org.projectId,
      job_type_id: 'band_math',
      input_params,
    })
    jobs.push(job.id)
  }
  await w.drain(run)
  const script = path.join(import.meta.dirname, 'up42-client.py')
  const args = [script, w.baseUrl, token, org.projectId, 'sandbox-hr', 'sandbox-hr-archive', orderId, jobs[0]!]
  const { stdout } = await promisify(execFile)(PYTHON, args, { maxBuffer: 1e7 })
  const got = JSON.parse(stdout.trim().split('\n').at(-1)!)
  const all = await w.ok(token, 'glossary.collections.list', { size: 100 })
  assert.equal(got.collections.length, all.totalElements)
  assert.deepEqual(got.collections, got.collections.toSorted())
  assert.ok(got.archive > 0 && got.archive <= got.collections.length)
  assert.ok(got.scenes > 100, 'over several pages')
  assert.ok(got.clouds <= 90)
  assert.deepEqual([got.schema, got.tags, got.orders], ['object', ['from', 'python'], [orderId]])
  assert.ok(Math.abs(got.covered - 100) < 1)
  const { job } = await w.ok(token, 'processing.job.get', { job_id: jobs[0]! })
  assert.deepEqual(got.job, ['successful', 'band_math', org.projectId, job.captured_credits, true])
  assert.deepEqual([got.jobs.toSorted(), got.successful.toSorted(), got.none], [jobs.toSorted(), jobs.toSorted(), 0])
  assert.deepEqual([got.budgets, got.enforced], [[], false])
  assert.equal(got.items.length, 4)
})
