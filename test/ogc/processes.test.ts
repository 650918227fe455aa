// Goal: every check of the abstract test suite of OGC API – Processes, Part 1 (18-062r2), for each class that /conformance claims.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Compile } from 'typebox/compile'
import { newId } from '#core/ids.ts'
import run from '#domains/processing/run.task.ts'
import { scene } from '../support/scene.ts'
import { world, type Answer } from '../support/world.ts'

const CLASS = 'http://www.opengis.net/spec/ogcapi-processes-1/1.0/conf/'
const EXCEPTION = 'http://www.opengis.net/def/exceptions/ogcapi-processes-1/1.0/'
const RELATION = 'http://www.opengis.net/def/rel/ogc/1.0/'
/** What there is no occasion for here, and why. */
const NOT_APPLICABLE = {
  'core/process-execute-input-array': 'no input has maxOccurs above 1',
  'core/process-execute-input-inline-binary': 'no input is binary',
  'core/process-execute-input-inline-mixed': 'no input has several media types',
  'core/process-execute-sync-raw-value-multi': 'no process has several outputs',
  'core/process-execute-sync-raw-ref': 'outputs are transmitted by value only',
  'core/process-execute-sync-raw-mixed-multi': 'outputs are transmitted by value only',
  'core/job-results-async-raw-value-multi': 'no process has several outputs',
  'core/job-results-async-raw-ref': 'outputs are transmitted by value only',
  'core/job-results-async-raw-mixed-multi': 'outputs are transmitted by value only',
  'ogc-process-description/input-mixed-type': 'no input has several media types',
  'ogc-process-description/output-mixed-type': 'no output has several media types',
}

// oxlint-disable-next-line typescript/no-explicit-any
type Json = any
interface Link {
  rel: string
  href: string
}

test('OGC API Processes, Part 1', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  await w.ok(await w.serviceToken(), 'billing.credits.grant', { organization_id: org.id, credits: 10_000, reason: 'for a test' })
  await w.db.updateTable('organization').set({ plan_id: 'business' }).where('id', '=', org.id).execute()
  const { token } = org.owner
  const headers = { authorization: `Bearer ${token}` }
  const itemId = (await w.upload(token, org.projectId, { 'a.tif': await scene({ width: 64, height: 64 }) })).body.item_ids[0] as string
  const area = (await w.ok(token, 'items.get', { item_id: itemId })).item.geometry

  const api: Json = (await w.request('GET', '/api')).body
  const answered: [path: string, method: string, status: number][] = []
  const pathOf = (href: string) => href.replace(w.baseUrl, '')
  const templateOf = (path: string) => {
    const [pathname] = pathOf(path).split('?')
    const isTemplate = (template: string) => new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname!)
    return Object.keys(api.paths).find(isTemplate)!
  }
  const noted = (path: string, method: string, answer: Answer): Answer<Json> => {
    answered.push([templateOf(path), method, answer.status])
    return answer
  }
  const get = async (path: string, more: Record<string, string> = headers) =>
    noted(path, 'get', await w.request('GET', pathOf(path), { headers: more }))
  const dismiss = async (path: string) => noted(path, 'delete', await w.request('DELETE', path, { headers }))
  const execute = async (body: object, more: Record<string, string> = {}, id = 'band_math') => {
    const path = `/processes/${id}/execution`
    return noted(path, 'post', await w.post(path, body, { ...headers, ...more }))
  }
  const inputs = { item_id: itemId, expression: 'b1 + b2', project_id: org.projectId }
  /** A synchronous execution, with the worker beside it. */
  const executed = async (body: object, id?: string) => {
    const answering = execute(body, {}, id)
    let isAnswered = false
    void answering.then(() => (isAnswered = true))
    while (!isAnswered) if ((await w.drain(run)) === 0) await new Promise((resolve) => setImmediate(resolve))
    return await answering
  }
  const accepted = async (body: object = { inputs }, id?: string) => {
    const { status, headers: got, body: info } = await execute(body, { prefer: 'respond-async' }, id)
    assert.equal(status, 201)
    return { info, path: pathOf(got.get('location')!) }
  }
  const assertSchema = (name: string, document: unknown) => {
    const whole = (schema: Json): Json =>
      Array.isArray(schema)
        ? schema.map(whole)
        : typeof schema !== 'object' || schema === null
          ? schema
          : schema.$ref
            ? whole(api.components.schemas[schema.$ref.split('/').at(-1)])
            : Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, whole(value)]))
    assert.deepEqual(Compile(whole(api.components.schemas[name])).Errors(document), [], name)
  }
  const assertException = ({ status, body, headers: got }: Answer<Json>, expected: number, type: string) => {
    assert.deepEqual([status, body.type, body.status], [expected, type, expected])
    assert.match(got.get('content-type')!, /^application\/problem\+json/)
    assertSchema('exception', body)
  }
  const linkOf = (links: Link[], rel: string) => links.find((link) => link.rel === rel)?.href
  const claimed: string[] = (await w.request('GET', '/conformance')).body.conformsTo
  const done = new Set<string>(Object.keys(NOT_APPLICABLE))
  const check = async (id: string, body: () => Promise<void>) => {
    done.add(id)
    assert.ok(claimed.includes(CLASS + id.split('/')[0]), `${id} belongs to a claimed class`)
    await t.test(`/conf/${id}`, body)
  }

  let landing: { links: Link[] } = { links: [] }
  await check('core/landingpage-op', async () => {
    landing = (await get('/', { accept: 'application/json' })).body
    assertSchema('landingPage', landing)
  })
  await check('core/landingpage-success', async () => {
    for (const rel of ['service-desc', 'service-doc', `${RELATION}conformance`, `${RELATION}processes`, `${RELATION}job-list`])
      assert.ok(linkOf(landing.links, rel), rel)
  })
  await check('core/api-definition-op', async () => {
    const definitions = landing.links.filter(({ rel }) => rel === 'service-desc').map(({ href }) => pathOf(href))
    assert.ok(definitions.includes('/api'))
    for (const path of definitions) assert.equal((await w.request('GET', path)).status, 200, path)
  })
  await check('core/api-definition-success', async () => {
    assert.match(api.openapi, /^3\.0\.\d$/)
    assert.ok(api.info.title && api.info.version && Object.keys(api.paths).length > 0)
  })
  await check('core/conformance-op', async () => {
    for (const path of ['/conformance', linkOf(landing.links, `${RELATION}conformance`)!]) {
      const { status, body } = await get(path)
      assert.equal(status, 200)
      assertSchema('confClasses', body)
    }
  })
  await check('core/conformance-success', async () => {
    assert.ok(claimed.includes(`${CLASS}core`))
    const classes = claimed.filter((name) => name.startsWith(CLASS)).map((name) => name.slice(CLASS.length))
    assert.deepEqual(classes.toSorted(), ['core', 'dismiss', 'job-list', 'json', 'oas30', 'ogc-process-description'])
  })
  await check('core/http', async () => {
    assert.equal((await w.request('GET', '/processes')).status, 401)
    assert.equal((await w.request('PUT', '/processes', { headers })).status, 405)
  })

  let processes: Json[] = []
  await check('core/process-list', async () => {
    const { status, body } = await get('/processes')
    assert.equal(status, 200)
    processes = body.processes
    assert.ok(processes.length > 10)
  })
  await check('core/process-list-success', async () => assertSchema('processList', (await get('/processes')).body))
  await check('core/process-list-links', async () => {
    const { body } = await get('/processes?limit=3')
    assert.equal(linkOf(body.links, 'self'), `${w.baseUrl}/processes?limit=3`)
  })
  await check('core/pl-limit-definition', async () => {
    const limit = api.paths['/processes'].get.parameters.find(({ name }: Json) => name === 'limit')
    assert.deepEqual([limit.in, limit.required, limit.schema.type, limit.schema.minimum], ['query', false, 'integer', 1])
    for (const wrong of ['0', '-1', 'many', '1.5']) assert.equal((await get(`/processes?limit=${wrong}`)).status, 422, wrong)
  })
  await check('core/pl-limit-response', async () => {
    const seen: string[] = []
    let pages = 0
    for (let next: string | undefined = '/processes?limit=5'; next; pages++) {
      const { body } = await get(next)
      assert.ok(body.processes.length <= 5)
      seen.push(...body.processes.map(({ id }: Json) => id))
      next = linkOf(body.links, 'next')
    }
    assert.deepEqual(
      seen,
      processes.map(({ id }) => id),
    )
    assert.equal(pages, Math.ceil(processes.length / 5))
  })

  const described: Json[] = []
  await check('core/process-description', async () => {
    for (const { id, links } of processes) {
      const { status, body } = await get(linkOf(links, 'self')!)
      assert.deepEqual([status, body.id], [200, id])
      described.push(body)
    }
  })
  await check('core/process-description-success', async () => {
    for (const process of described) {
      assertSchema('process', process)
      assert.ok(linkOf(process.links, `${RELATION}execute`))
    }
  })
  await check('core/process-exception-no-such-process', async () => {
    assertException(await get('/processes/nothing'), 404, `${EXCEPTION}no-such-process`)
    assertException(await execute({ inputs }, {}, 'nothing'), 404, `${EXCEPTION}no-such-process`)
    const { status, body } = await execute({ inputs: { ...inputs, item_id: newId() } })
    assert.deepEqual([status, body.type.startsWith(w.baseUrl)], [404, true], 'a missing item is no missing process')
  })
  await check('ogc-process-description/json-encoding', async () => described.forEach((description) => assertSchema('process', description)))
  await check('ogc-process-description/inputs-def', async () =>
    described.forEach(({ inputs: all }) => assert.ok(Object.keys(all).length > 1)),
  )
  await check('ogc-process-description/input-def', async () => {
    for (const { inputs: all } of described)
      for (const output of Object.values<Json>(all)) {
        assert.ok(output.title && output.description && output.schema)
        assert.ok([0, 1].includes(output.minOccurs))
        Compile(output.schema)
      }
  })
  await check('ogc-process-description/outputs-def', async () =>
    described.forEach(({ outputs }) => assert.deepEqual(Object.keys(outputs), ['items'])),
  )
  await check('ogc-process-description/output-def', async () => {
    for (const { outputs } of described) Compile(outputs.items.schema)
  })

  const sync = await executed({ inputs })
  await check('core/process-execute-op', async () => assert.equal(sync.status, 200, JSON.stringify(sync.body)))
  await check('core/process-execute-default-execution-mode', async () => assert.ok(sync.body.items.length === 1))
  await check('core/process-execute-auto-execution-mode', async () => {
    const { status, headers: got } = await execute({ inputs }, { prefer: 'respond-async' })
    assert.deepEqual([status, got.get('preference-applied')], [201, 'respond-async'])
  })
  await check('core/process-execute-request', async () => {
    const body = { inputs, outputs: { items: { transmissionMode: 'value' } }, response: 'document' }
    assert.equal((await executed(body)).status, 200)
    for (const [wrong, field] of [
      [{ inputs, outputs: { nothing: {} } }, 'outputs.nothing'],
      [{ inputs, outputs: { items: { transmissionMode: 'reference' } } }, 'outputs.items.transmissionMode'],
      [{ inputs, outputs: ['items'] }, 'outputs'],
      [{ inputs, response: 'both' }, 'response'],
      [{ inputs: [] }, 'inputs'],
    ] as const) {
      const answer = await execute(wrong)
      assert.deepEqual([answer.status, answer.body.errors[0].field], [422, field])
    }
  })
  await check('core/process-execute-inputs', async () => {
    const href = (value: unknown) => `data:application/json,${encodeURIComponent(JSON.stringify(value))}`
    const base64 = `data:application/json;base64,${Buffer.from(JSON.stringify(area)).toString('base64')}`
    for (const geometry of [area, { href: href(area) }, { href: base64, type: 'application/geo+json' }])
      assert.equal((await executed({ inputs: { ...inputs, geometry } })).status, 200)
    assert.equal((await executed({ inputs: { ...inputs, expression: { href: 'data:text/plain,b1*2' } } })).status, 200)
    for (const wrong of ['http://169.254.169.254/', 'file:///etc/passwd', 'data:application/json,{']) {
      const { status, body } = await execute({ inputs: { ...inputs, geometry: { href: wrong } } })
      assert.deepEqual([status, body.errors[0].field], [422, 'inputs.geometry.href'], wrong)
    }
  })
  await check('core/process-execute-input-inline-object', async () => {
    const geometry = { value: area, mediaType: 'application/geo+json' }
    assert.equal((await executed({ inputs: { ...inputs, geometry } })).status, 200)
  })
  await check('core/process-execute-input-inline-bbox', async () => {
    const [west, south, east, north] = (await w.ok(token, 'items.get', { item_id: itemId })).item.bbox as number[]
    const crs = 'http://www.opengis.net/def/crs/OGC/1.3/CRS84'
    for (const bbox of [
      [west, south, east, north],
      [west, south, 0, east, north, 9],
    ])
      assert.equal((await executed({ inputs: { ...inputs, geometry: { bbox, crs } } })).status, 200)
    for (const wrong of [{ bbox: [1, 2, 3] }, { bbox: ['1', 2, 3, 4] }, { bbox: [1, 2, 3, 4], crs: 'EPSG:3857' }])
      assert.equal((await execute({ inputs: { ...inputs, geometry: wrong } })).status, 422)
  })
  await check('core/process-execute-input-validation', async () => {
    for (const { id, inputs: all } of described) {
      const name = Object.keys(all).find((key) => key !== 'project_id')!
      const { status, body } = await execute({ inputs: { project_id: org.projectId, [name]: { wrong: true } } }, {}, id)
      assert.equal(status, 422, id)
      assert.ok(
        body.errors.some(({ field }: Json) => String(field).startsWith(`inputs.${name}`)),
        `${id} names ${name}`,
      )
    }
  })
  await check('core/process-execute-default-outputs', async () => assert.deepEqual(Object.keys(sync.body), ['items']))
  await check('core/process-execute-sync-raw-value-one', async () => {
    const { status, body } = await executed({ inputs, outputs: { items: { transmissionMode: 'value' } }, response: 'raw' })
    assert.deepEqual([status, Array.isArray(body), body[0].assets[0].type], [200, true, sync.body.items[0].assets[0].type])
  })
  await check('core/process-execute-sync-document', async () => {
    const { status, body, headers: got } = await executed({ inputs, response: 'document' })
    assert.equal(status, 200)
    assert.match(got.get('content-type')!, /^application\/json/)
    assertSchema('results', body)
  })
  const { info: created, path: jobPath } = await accepted()
  await check('core/process-execute-success-async', async () => {
    assertSchema('statusInfo', created)
    assert.equal(created.status, 'accepted')
  })

  await check('core/job-op', async () => assert.equal((await get(jobPath)).status, 200))
  await check('core/job-results-exception-results-not-ready', async () =>
    assertException(await get(`${jobPath}/results`), 404, `${EXCEPTION}result-not-ready`),
  )
  const rawJob = await accepted({ inputs, outputs: { items: {} }, response: 'raw' })
  await w.drain(run)
  await check('core/job-success', async () => {
    const { body } = await get(jobPath)
    assertSchema('statusInfo', body)
    assert.deepEqual([body.status, body.progress, body.processID, body.type], ['successful', 100, 'band_math', 'process'])
  })
  await check('core/job-exception-no-such-job', async () => {
    for (const id of [newId(), 'nothing', '..%2f']) assertException(await get(`/jobs/${id}`), 404, `${EXCEPTION}no-such-job`)
    const stranger = await w.organization()
    const theirs = { authorization: `Bearer ${stranger.owner.token}` }
    assertException(await get(jobPath, theirs), 404, `${EXCEPTION}no-such-job`)
    assert.equal((await w.request('GET', '/jobs/nothing')).status, 401, 'nobody learns which ids there are')
  })
  await check('core/job-results', async () => {
    const { body } = await get(jobPath)
    assert.equal((await get(linkOf(body.links, `${RELATION}results`)!)).status, 200)
  })
  await check('core/job-results-async-document', async () => {
    const { body } = await get(`${jobPath}/results`)
    assertSchema('results', body)
    assert.equal(body.items.length, 1)
  })
  await check('core/job-results-success-sync', async () => {
    const monitor = /^<(.+)>; rel="monitor"$/.exec(sync.headers.get('link')!)![1]!
    const { body } = await get(monitor)
    assertSchema('statusInfo', body)
    assert.equal(body.status, 'successful')
    assert.deepEqual((await get(`${monitor}/results`)).body, sync.body)
  })
  await check('core/job-results-async-raw-value-one', async () => {
    const { jobID } = rawJob.info
    const followed = linkOf((await get(rawJob.path)).body.links, `${RELATION}results`)!
    for (const path of [`/jobs/${jobID}/results`, followed]) {
      const { status, body, headers: got } = await get(path)
      assert.deepEqual([status, Array.isArray(body), body.length], [200, true, 1], path)
      assert.match(got.get('content-type')!, /^application\/json/)
      assertSchema('rawResults', body)
    }
    const { body: document } = await get(`/jobs/${jobID}/results?response=document`)
    assert.deepEqual(Object.keys(document), ['items'], 'whoever wants the document gets it, with the outputs that were asked for')
    const { body: raw } = await get(`${jobPath}/results?response=raw`)
    assert.ok(Array.isArray(raw))
    assert.equal((await get(`${jobPath}/results?response=both`)).status, 422)
  })
  await t.test('results of a synchronous execution stay as they were requested', async () => {
    const raw = await executed({ inputs, outputs: { items: {} }, response: 'raw' })
    const monitor = /^<(.+)>; rel="monitor"$/.exec(raw.headers.get('link')!)![1]!
    assert.deepEqual((await get(`${monitor}/results`)).body, raw.body)
    const job = await w.ok(token, 'processing.job.get', { job_id: monitor.split('/').at(-1) })
    assert.deepEqual([job.job.response, job.job.requested_outputs], ['raw', ['items']])
  })
  await t.test('a repeated request with another response is another request', async () => {
    const key = { 'idempotency-key': newId(), prefer: 'respond-async' }
    const first = await execute({ inputs, response: 'raw' }, key)
    const repeated = await execute({ inputs, response: 'raw' }, key)
    assert.deepEqual([repeated.status, repeated.body.jobID], [201, first.body.jobID])
    assert.equal((await execute({ inputs, response: 'document' }, key)).status, 409)
  })
  await check('core/job-results-exception-no-such-job', async () =>
    assertException(await get(`/jobs/${newId()}/results`), 404, `${EXCEPTION}no-such-job`),
  )
  await check('core/job-results-failed', async () => {
    const { path } = await accepted({ inputs: { item_id: itemId, project_id: org.projectId, interval: 1e-9 } }, 'contour')
    await w.drain(run)
    assert.equal((await get(path)).body.status, 'failed')
    const failed = await get(`${path}/results`)
    assertException(failed, 400, `${w.baseUrl}/problems/bad-request`)
    assert.match(failed.body.detail, /Too many contour lines/)
  })
  await check('json/definition', async () => {
    for (const path of ['/conformance', '/processes', '/processes/band_math', '/jobs', jobPath])
      assert.match((await get(path)).headers.get('content-type')!, /^application\/json/, path)
  })

  await check('dismiss/job-dismiss-op', async () => {
    const { path } = await accepted()
    const { status, body } = await dismiss(path)
    assert.deepEqual([status, body.status], [200, 'dismissed'])
    assertSchema('statusInfo', body)
    assert.equal((await get(path)).body.status, 'dismissed')
    assert.equal((await get(`${path}/results`)).status, 404)
    await w.drain(run)
    assert.equal((await get(path)).body.status, 'dismissed')
  })
  await check('dismiss/job-dismiss-success', async () => {
    assert.equal((await dismiss(jobPath)).status, 400, 'a job that has ended cannot be cancelled')
    assertException(await dismiss(`/jobs/${newId()}`), 404, `${EXCEPTION}no-such-job`)
    const viewer = await w.member(org, 'viewer')
    const { path } = await accepted()
    const refused = await w.request('DELETE', path, { headers: { authorization: `Bearer ${viewer.token}` } })
    assert.equal(refused.status, 403)
  })

  w.clock.advance({ minutes: 10 })
  const later = await accepted({ inputs })
  const ids = (answer: Answer<Json>): string[] => answer.body.jobs.map(({ jobID }: Json) => jobID)
  const all = await get('/jobs?limit=100')
  await check('job-list/job-list-op', async () => assert.equal(all.status, 200))
  await check('job-list/job-list-success', async () => assertSchema('jobList', all.body))
  await check('job-list/links', async () => assert.equal(linkOf(all.body.links, 'self'), `${w.baseUrl}/jobs?limit=100`))
  const parameter = (name: string): Json => api.paths['/jobs'].get.parameters.find((parameter: Json) => parameter.name === name)
  await check('job-list/type-definition', async () => assert.equal(parameter('type').schema.type, 'array'))
  await check('job-list/type-response', async () => {
    assert.deepEqual(ids(await get('/jobs?type=process&limit=100')), ids(all))
    assert.deepEqual(ids(await get('/jobs?type=other')), [])
  })
  await check('job-list/processID-definition', async () => assert.equal(parameter('processID').schema.type, 'array'))
  await check('job-list/processID-mandatory', async () =>
    assert.ok(all.body.jobs.every(({ processID }: Json) => ['band_math', 'contour'].includes(processID))),
  )
  await check('job-list/processID-response', async () => {
    assert.deepEqual(ids(await get('/jobs?processID=band_math,contour,slope&limit=100')), ids(all))
    assert.equal(ids(await get('/jobs?processID=contour')).length, 1)
    assert.deepEqual(ids(await get('/jobs?processID=slope')), [])
  })
  await check('job-list/status-definition', async () => assert.equal(parameter('status').schema.type, 'array'))
  await check('job-list/status-response', async () => {
    for (const asked of ['accepted', 'running', 'successful', 'failed', 'dismissed', 'failed,dismissed']) {
      const expected = all.body.jobs.filter(({ status }: Json) => asked.split(',').includes(status)).map(({ jobID }: Json) => jobID)
      assert.deepEqual(ids(await get(`/jobs?limit=100&status=${asked}`)), expected, asked)
      assert.deepEqual(
        ids(
          await get(
            `/jobs?limit=100&${asked
              .split(',')
              .map((status) => `status=${status}`)
              .join('&')}`,
          ),
        ),
        expected,
        asked,
      )
    }
    const { status, body } = await get('/jobs?status=done')
    assert.deepEqual([status, body.errors[0].field], [422, 'status'])
  })
  await check('job-list/datetime-definition', async () => {
    assert.deepEqual([parameter('datetime').schema.type, parameter('datetime').required], ['string', false])
    assert.equal((await get('/jobs?datetime=yesterday')).status, 422)
  })
  await check('job-list/datetime-response', async () => {
    const [newest] = all.body.jobs
    assert.equal(newest.jobID, later.info.jobID)
    const older = ids(all).slice(1)
    assert.deepEqual(ids(await get(`/jobs?limit=100&datetime=${newest.created}`)), [newest.jobID])
    assert.deepEqual(ids(await get(`/jobs?limit=100&datetime=${newest.created}/..`)), [newest.jobID])
    assert.deepEqual(ids(await get(`/jobs?limit=100&datetime=../${all.body.jobs[1].created}`)), older)
    assert.deepEqual(ids(await get(`/jobs?limit=100&datetime=/${newest.created}`)), ids(all))
  })
  await check('job-list/duration-definition', async () => {
    for (const name of ['minDuration', 'maxDuration']) {
      assert.equal(parameter(name).in, 'query')
      for (const wrong of ['-1', 'long']) assert.equal((await get(`/jobs?${name}=${wrong}`)).status, 422)
    }
  })
  await check('job-list/duration-response', async () => {
    const [short, long, waiting] = [created.jobID as string, rawJob.info.jobID as string, later.info.jobID as string]
    const started = new Date('2030-01-01T00:00:00Z')
    const lasts = (id: string, seconds: number) =>
      w.db
        .updateTable('processing_job')
        .set({ started_at: started, completed_at: new Date(started.getTime() + seconds * 1_000) })
        .where('id', '=', id)
        .execute()
    await lasts(short, 30)
    await lasts(long, 90)
    const among = async (query: string) =>
      ids(await get(`/jobs?limit=100&${query}`))
        .filter((id) => [short, long, waiting].includes(id))
        .toSorted()
    const both = [short, long].toSorted()
    assert.deepEqual(await among('minDuration=60'), [long])
    assert.deepEqual(await among('maxDuration=60'), [short])
    assert.deepEqual(await among('minDuration=30&maxDuration=90'), both, 'ends belong to it; what has not begun has no duration')
    assert.deepEqual(await among('minDuration=31&maxDuration=89'), [])
    assert.deepEqual(await among('minDuration=0&status=accepted'), [])
  })
  await check('job-list/limit-definition', async () => {
    const { schema } = parameter('limit')
    assert.deepEqual([schema.type, schema.minimum, schema.maximum, schema.default], ['integer', 1, 100, 20])
    assert.equal((await get('/jobs?limit=0')).status, 422)
    assert.equal((await get('/jobs?limit=10000')).status, 200, 'more than the maximum is the maximum')
  })
  await check('job-list/limit-response', async () => {
    const seen: string[] = []
    for (let next: string | undefined = '/jobs?limit=4&type=process'; next;) {
      const answer = await get(next)
      assert.ok(answer.body.jobs.length <= 4)
      seen.push(...ids(answer))
      next = linkOf(answer.body.links, 'next')
    }
    assert.deepEqual(seen, ids(all))
    assert.equal(ids(await get('/jobs')).length, Math.min(20, seen.length))
    const key = await w.key(token, ['read'])
    const { body } = await w.request('GET', `/jobs?limit=1&key=${key.key}`)
    assert.ok(!JSON.stringify(body.links).includes(key.key), 'links do not repeat a key')
  })

  await check('oas30/oas-definition-1', async () => assert.match(api.openapi, /^3\.0\./))
  await check('oas30/oas-definition-2', async () => {
    const refs = [...JSON.stringify(api).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name!)
    for (const name of refs) assert.ok(api.components.schemas[name], name)
    for (const path of Object.values<Json>(api.paths))
      for (const operation of Object.values<Json>(path)) assert.ok(operation.operationId && operation.responses, JSON.stringify(operation))
  })
  await check('oas30/oas-impl', async () => {
    for (const [template, methods] of Object.entries<Json>(api.paths))
      for (const method of Object.keys(methods)) {
        const { status } = await w.request(method.toUpperCase(), template.replaceAll(/\{\w+\}/g, 'nothing'), {
          headers: { ...headers, accept: 'application/json' },
        })
        assert.notEqual(status, 405, `${method} ${template}`)
      }
  })
  await check('oas30/security', async () => {
    assert.deepEqual(Object.keys(api.components.securitySchemes), ['bearer', 'apiKey'])
    const key = await w.key(token, ['read'])
    assert.equal((await w.request('GET', '/processes', { headers: { 'x-api-key': key.key } })).status, 200)
  })
  await check('oas30/completeness', async () => {
    for (const [template, method, status] of answered)
      assert.ok(api.paths[template]?.[method]?.responses[status], `${method} ${template} describes ${status}`)
  })
  await check('oas30/exceptions-codes', async () => {
    for (const path of Object.values<Json>(api.paths))
      for (const operation of Object.values<Json>(path))
        for (const [status, answer] of Object.entries<Json>(operation.responses))
          if (Number(status) >= 400) assert.ok(answer.content['application/problem+json'], `${operation.operationId} ${status}`)
  })
  t.diagnostic(`${done.size} checks, ${Object.keys(NOT_APPLICABLE).length} of them not applicable here`)
})
