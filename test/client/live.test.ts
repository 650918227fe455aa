// Goal: waiting for a job and listening for events work with the live service, through the client and the command line.
import assert from 'node:assert/strict'
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { tasks } from '#registry.ts'
import { Groundtrack, verifyWebhook } from '../../packages/client/src/index.ts'
import { scenes, square, work } from '../orders/support.ts'
import { scene } from '../support/scene.ts'
import { world } from '../support/world.ts'

const CLI = path.join(import.meta.dirname, '../../packages/cli/bin/groundtrack.mjs')
const SECRET = `whsec_${Buffer.from('a secret of thirty-two characters').toString('base64')}`
const runJob = tasks.find(({ name }) => name === 'processing.run')!

async function open(t: TestContext, options: Parameters<typeof world>[1] = {}) {
  const w = await world(t, options)
  const org = await w.organization()
  await w.ok(await w.serviceToken(), 'billing.credits.grant', { organization_id: org.id, credits: 1_000, reason: 'for a test' })
  const { key } = await w.key(org.owner.token, ['write', 'process'])
  return { w, org, key, gt: new Groundtrack({ baseUrl: w.baseUrl, apiKey: key }) }
}

/** The command line at work: its words as they come, and its end. */
function command(t: TestContext, args: readonly string[], env: Record<string, string>) {
  const child: ChildProcessWithoutNullStreams = spawn(process.execPath, [CLI, ...args], { env: { PATH: process.env['PATH']!, ...env } })
  t.after(() => child.kill('SIGKILL'))
  const said = { stdout: '', stderr: '' }
  let onWords = () => {}
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (chunk: Buffer) => {
      said[name] += chunk.toString()
      onWords()
    })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  return {
    said,
    ended,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    heard: async (stream: 'stdout' | 'stderr', words: RegExp) => {
      while (!words.test(said[stream]))
        await Promise.race([
          new Promise<void>((resolve) => (onWords = resolve)),
          ended.then((code) => assert.fail(`it ended with ${code}: ${said.stdout}${said.stderr}`)),
        ])
    },
  }
}

test('waiting', async (t) => {
  const { w, org, key, gt } = await open(t)
  const { item_ids } = (await w.upload(org.owner.token, org.projectId, { 'field.tif': await scene() })).body
  const start = async () =>
    (
      await gt.processing.createAndDispatch({
        project_id: org.projectId,
        job_type_id: 'cog_convert',
        input_params: { item_id: item_ids[0] },
      })
    ).job

  await t.test('waitFor reports each state of a job and returns the last', async () => {
    const job = await start()
    const seen: string[] = []
    const done = await gt.waitFor(
      { job: job.id },
      {
        onChange: ({ status }) => {
          if (seen.length === 0) void w.drain(runJob)
          seen.push(status)
        },
      },
    )
    assert.equal(done.status, 'completed')
    assert.notEqual(seen[0], 'completed')
    assert.equal(seen.at(-1), 'completed')
  })

  await t.test('a wait can time out or be aborted, and an unknown job is a problem', async () => {
    const job = await start()
    await assert.rejects(gt.waitFor({ job: job.id }, { timeoutMs: 1 }), /Timed out waiting for job .*, which is still dispatched/)
    const stop = new AbortController()
    const waiting = gt.waitFor({ job: job.id }, { signal: stop.signal, onChange: () => stop.abort(new Error('called off')) })
    await assert.rejects(waiting, /called off/)
    await assert.rejects(gt.waitFor({ job: org.id }), { slug: 'not-found' })
  })

  await t.test('jobs watch prints each state on stderr and the record on stdout', async (t) => {
    await w.drain(runJob)
    const job = await start()
    const watch = command(t, ['jobs', 'watch', job.id], { GROUNDTRACK_URL: w.baseUrl, GROUNDTRACK_API_KEY: key })
    await watch.heard('stderr', /dispatched/)
    await w.drain(runJob)
    assert.equal(await watch.ended, 0, watch.said.stderr)
    assert.deepEqual([JSON.parse(watch.said.stdout).id, JSON.parse(watch.said.stdout).status], [job.id, 'completed'])
  })
})

test('waiting for an order of the simulated vendor', async (t) => {
  const { w, org } = await open(t, { vendors: true })
  const gt = new Groundtrack({ baseUrl: w.baseUrl })
  await gt.auth.signIn({ email: org.owner.email, password: org.owner.password }) // Only a person may buy.
  const [scene] = await scenes(w)
  const place = (maxCredits: number) =>
    gt.orders.archive.place({
      projectId: org.projectId,
      captures: [{ id: scene!.id, geometry: square(), host: 'sandbox-hr' }],
      maxCredits,
    })

  await t.test('waitFor reports its progress and returns it with its items', async () => {
    const order = await place(1_000)
    const seen: string[] = []
    let working: Promise<void> | null = null
    const done = await gt.waitFor(order, {
      onChange: ({ status }) => {
        seen.push(status)
        working ??= work(w, [order.id])
      },
    })
    await working
    assert.equal(done.status, 'fulfilled', JSON.stringify(done))
    assert.equal(done.id, order.id)
    assert.equal(done.itemIds.length, 1)
    assert.equal((await gt.items.get({ item_id: done.itemIds[0]! })).item.project_id, org.projectId)
    assert.deepEqual([seen[0], seen.at(-1)], ['processing', 'fulfilled'])
  })

  await t.test('a cancelled order ends the wait', async () => {
    const order = await place(1_000)
    const waiting = gt.waitFor({ order: order.id }, { onChange: ({ status }) => status === 'processing' && void cancel() })
    const cancel = () => gt.orders.cancel({ id: order.id })
    assert.equal((await waiting).status, 'cancelled')
  })
})

interface Came {
  headers: IncomingHttpHeaders
  body: string
}

test('events listen', async (t) => {
  const { w, org, key, gt } = await open(t)
  const came: Came[] = []
  let onCome = () => {}
  const receiver = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      came.push({ headers: request.headers, body })
      response.writeHead(body.includes('Refused') ? 500 : 204).end()
      onCome()
    })
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  t.after(() => receiver.close())
  const target = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
  const env = { GROUNDTRACK_URL: w.baseUrl, GROUNDTRACK_API_KEY: key }
  const until = async (count: number) => {
    while (came.length < count) await new Promise<void>((resolve) => (onCome = resolve))
  }

  await t.test('forwards events from then on, with both webhook signatures, and continues after a rejection', async (t) => {
    await gt.collections.create({ project_id: org.projectId, name: 'Before' })
    const listening = command(t, ['events', 'listen', '--forward-to', target, '--secret', SECRET, '--types', 'collection.created'], env)
    await listening.heard('stderr', /Listening/)
    assert.ok(listening.said.stderr.includes(`Signing secret: ${SECRET}`))
    for (const name of ['First', 'Refused', 'Third']) await gt.collections.create({ project_id: org.projectId, name })
    await gt.projects.update({ project_id: org.projectId, name: 'Another type' })
    await until(3)
    const names: unknown[] = []
    for (const { headers, body } of came) {
      const event = await verifyWebhook(body, headers['x-svc-signature'] as string, SECRET)
      assert.deepEqual(new Webhook(SECRET).verify(body, headers as Record<string, string>), event)
      assert.deepEqual([headers['x-svc-event'], headers['x-svc-event-id']], ['collection.created', event.event_id])
      names.push((event.data as { name?: string }).name)
    }
    assert.deepEqual(names, ['First', 'Refused', 'Third'])
    await listening.heard('stdout', /204\n[^\n]*500\n[^\n]*204\n/)
    listening.kill('SIGINT')
    assert.equal(await listening.ended, 0, 'Ctrl-C is no failure')
  })

  await t.test('--after starts after a known event, --count ends it, and without a target events are printed', async (t) => {
    const first = JSON.parse(came[0]!.body) as { event_id: string }
    const args = ['events', 'listen', '--after', first.event_id, '--types', 'collection.created', '--count', '2']
    const listening = command(t, args, env)
    assert.equal(await listening.ended, 0, 'it ends when it has heard as many')
    const lines = listening.said.stdout.trim().split('\n')
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as { data: { name: string } }).data.name),
      ['Refused', 'Third'],
    )
  })

  await t.test('an invalid key is reported once', async (t) => {
    const refused = command(t, ['events', 'listen'], { ...env, GROUNDTRACK_API_KEY: 'svc_nobody' })
    assert.equal(await refused.ended, 3)
    assert.match(refused.said.stderr, /^error: /)
    assert.doesNotMatch(refused.said.stderr, /Listening/)
  })
})
