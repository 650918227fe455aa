/**
 * Goal: OWSLib's client of OGC API – Processes lists, describes and executes what the service offers, with nothing but its address
 * and a key; how a job stands and what it made are plain GETs.
 *
 * Run: npm test -- test/gdal/processes-client.ts. OWSLIB_PYTHON is a Python with OWSLib; skips where it cannot execute processes.
 */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import run from '#domains/processing/run.task.ts'
import { rasterItem } from '../support/layers.ts'
import { scene } from '../support/scene.ts'
import { world } from '../support/world.ts'

const PYTHON = process.env['OWSLIB_PYTHON'] ?? '/usr/bin/python3'
const hasClient = spawnSync(PYTHON, ['-c', 'from owslib.ogcapi.processes import Processes; Processes.execute']).status === 0
const skip = hasClient ? false : 'An OWSLib that can execute processes is not on this machine'
const python = promisify(execFile)

const CLIENT = `
import json, sys
from owslib.ogcapi.processes import Processes
base, key, step, *rest = sys.argv[1:]
service = Processes(base, headers={'Authorization': 'Bearer ' + key})
if step == 'describe':
    listed = service.processes()
    listed = listed['processes'] if isinstance(listed, dict) else listed
    described = [service.process(one['id']) for one in listed]
    print(json.dumps({'processes': listed, 'described': described, 'conformance': service.conformance()}))
else:
    print(json.dumps(service.execute(rest[0], json.loads(rest[1]), async_=step == 'async')))
`

// Answers are read by name, as any client without generated types would.
// oxlint-disable-next-line typescript/no-explicit-any
type Answer = any

test("OWSLib's client of OGC API – Processes", { skip }, async (t) => {
  const w = await world(t)
  const org = await w.organization()
  await w.ok(await w.serviceToken(), 'billing.credits.grant', { organization_id: org.id, credits: 1_000, reason: 'for a test' })
  const { key } = await w.key(org.owner.token, ['read', 'process'])
  const itemId = await rasterItem(w, org, [{ bytes: await scene({ width: 80, height: 60 }) }], { name: 'Harbour' })
  const client = async (...args: string[]): Promise<Answer> =>
    JSON.parse((await python(PYTHON, ['-c', CLIENT, w.baseUrl, key, ...args], { maxBuffer: 1 << 26 })).stdout)
  const get = async (path: string): Promise<{ status: number; body: Answer }> => {
    const response = await fetch(new URL(path, w.baseUrl), { headers: { authorization: `Bearer ${key}` } })
    return { status: response.status, body: await response.json() }
  }
  const inputs = JSON.stringify({ item_id: itemId, expression: 'b1*2', project_id: org.projectId })

  await t.test('lists and describes every process', async () => {
    const { processes, described, conformance } = await client('describe')
    const { processes: ours } = await w.ok(key, 'processing.catalog.list')
    assert.deepEqual(
      processes.map(({ id }: Answer) => id),
      ours.map(({ id }: Answer) => id),
    )
    assert.ok(conformance.conformsTo.some((uri: string) => uri.endsWith('ogcapi-processes-1/1.0/conf/core')))
    for (const { id, inputs: taken, outputs } of described)
      assert.ok(Object.keys(taken).length > 0 && Object.keys(outputs).length > 0, `${id} says what it takes and makes`)
  })

  await t.test('executes; status and results are plain GETs', async () => {
    const { jobID, status: first } = await client('async', 'band_math', inputs)
    assert.equal(first, 'accepted')
    assert.equal((await get(`/jobs/${jobID}`)).body.status, 'accepted')
    assert.equal((await get(`/jobs/${jobID}/results`)).status, 404)
    assert.equal(await w.drain(run), 1)
    const { body: after } = await get(`/jobs/${jobID}`)
    assert.deepEqual([after.status, after.progress, after.processID], ['successful', 100, 'band_math'])
    const { status, body: results } = await get(`/jobs/${jobID}/results`)
    const { job } = await w.ok(key, 'processing.job.get', { job_id: jobID })
    assert.equal(status, 200)
    assert.ok(JSON.stringify(results).includes(job.output_item_ids[0]))
  })

  await t.test('executes and waits for the results', async () => {
    const executing = client('sync', 'band_math', inputs)
    let isOver = false
    const over = executing.finally(() => {
      isOver = true
    })
    while (!isOver && (await w.drain(run)) === 0) await new Promise((resolve) => setImmediate(resolve))
    assert.match(JSON.stringify(await over), /item_id/)
  })
})
