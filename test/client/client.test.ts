import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import {
  ConnectionError,
  Groundtrack,
  isProblem,
  type ProblemError,
  UploadError,
  type SessionTokens,
} from '../../packages/client/src/index.ts'
import { openFile, saveTo } from '../../packages/client/src/node.ts'
import { scene } from '../support/scene.ts'
import { world, type Org, type World } from '../support/world.ts'

const item = (project_id: string, name: string) => ({
  project_id,
  name,
  type: 'external_reference' as const,
  geometry: { type: 'Point' as const, coordinates: [151.2, -33.8] },
  datetime: '2029-05-01T00:00:00Z',
})
const rejection = async (work: Promise<unknown>): Promise<unknown> =>
  await work.then(
    () => null,
    (error: unknown) => error,
  )
const sessionOf = ({ owner }: Org, w: World): SessionTokens => ({
  accessToken: owner.token,
  refreshToken: owner.refreshToken,
  expiresAt: Date.now() + 900_000,
  organizationId: w ? owner.id : null,
})

// Goal: the client returns what HTTP returns, as types, pages, lines and bytes, and problems with a kind.
test('responses', async (t) => {
  const w = await world(t, { vendors: true })
  const org = await w.organization()
  const gt = new Groundtrack({ baseUrl: w.baseUrl, apiKey: (await w.key(org.owner.token, ['write'])).key })
  for (let n = 0; n < 5; n++) await gt.items.create(item(org.projectId, `Scene ${n}`))

  await t.test('a page can be awaited, the whole list iterated', async () => {
    const page = await gt.items.list({ project_id: org.projectId, limit: 2 })
    assert.deepEqual([page.items.length, page.total], [2, 5])
    const names: string[] = []
    for await (const { name } of gt.items.list({ project_id: org.projectId, limit: 2 })) names.push(name)
    assert.deepEqual(names, ['Scene 4', 'Scene 3', 'Scene 2', 'Scene 1', 'Scene 0'])
    assert.equal((await gt.items.list({ project_id: org.projectId, limit: 5 }).all()).length, 5, 'a full last page is no loop')
    assert.equal((await gt.glossary.collections.list({ size: 1 }).all()).length, (await gt.glossary.collections.list()).totalElements)
  })

  await t.test('cursors are followed, and lines are streamed one by one', async () => {
    const search = { host_name: 'sandbox-open', bbox: [151, -34, 152, -33], datetime: '2029-05-01/2029-06-30' } as const
    const ids: string[] = []
    for await (const scene of gt.catalog.search({ ...search, bbox: [...search.bbox], limit: 3 })) {
      ids.push(scene.id)
      if (ids.length === 7) break
    }
    assert.equal(new Set(ids).size, 7)
    const lines: string[] = []
    for await (const line of gt.catalog.searchStream({ ...search, bbox: [...search.bbox], limit: 7 })) lines.push(line.type)
    assert.deepEqual(lines, [...ids.map(() => 'Feature'), 'Summary'])
  })

  await t.test('problems have a kind, fields and the ID of the call', async () => {
    const error = await rejection(gt.projects.get({ project_id: 'no id' }))
    assert.ok(isProblem(error, 'invalid-input'))
    assert.deepEqual(
      [error.slug, error.status, error.errors[0]?.field, error.operation],
      ['invalid-input', 422, 'project_id', 'projects.get'],
    )
    assert.match(error.instance, /^urn:uuid:/)
    assert.equal(isProblem(error, 'not-found'), false)
  })

  await t.test('an operation that this client does not know can be called by ID', async () => {
    assert.deepEqual(await gt.call('projects.get', { project_id: org.projectId }), await gt.projects.get({ project_id: org.projectId }))
    assert.equal(((await rejection(gt.call('no.such'))) as ProblemError).slug, 'unknown-operation')
  })

  await t.test('routes that are not operations', async () => {
    const person = new Groundtrack({ baseUrl: w.baseUrl })
    await person.auth.signIn({ email: org.owner.email, password: org.owner.password })
    assert.equal((await person.auth.me()).user.email, org.owner.email)
    await person.auth.signOut()
    assert.equal(person.session.tokens, null)
    assert.ok(isProblem(await rejection(person.auth.me()), 'unauthorized'))
  })
})

// Goal: a call that fails because of the network is retried if that is safe, and takes effect once.
test('retries', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  await w.ok(org.owner.token, 'payment_methods.attach', { payment_method_id: 'pm_card_visa' })
  const seen: { path: string; key: string | null }[] = []
  /** Lets the request through and loses the answer, so often. */
  const losing = (times: number, answer?: () => Response): typeof globalThis.fetch => {
    let left = times
    return async (input, init) => {
      seen.push({ path: new URL(String(input)).pathname, key: new Headers(init?.headers as Record<string, string>).get('idempotency-key') })
      if (left-- <= 0) return await globalThis.fetch(input, init)
      if (answer) return answer()
      await globalThis.fetch(input, init)
      throw new TypeError('fetch failed')
    }
  }
  const client = (fetch: typeof globalThis.fetch) => new Groundtrack({ baseUrl: w.baseUrl, session: sessionOf(org, w), fetch })

  await t.test('a spend whose response was lost is retried with its key and charged once', async () => {
    const topup = await client(losing(1)).billing.topup({ aud_cents: 10_000 })
    assert.equal(topup.credits_granted, 10_000)
    assert.equal(seen.length, 2)
    assert.ok(seen[0]!.key !== null && seen[0]!.key === seen[1]!.key)
    assert.equal((await w.ok(org.owner.token, 'billing.credits.balance')).balance_credits, 10_000)
  })

  await t.test('a write without a key is not retried if its response is lost', async () => {
    seen.length = 0
    const error = await rejection(client(losing(1)).call('projects.create', { name: 'Once' }))
    assert.ok(error instanceof ConnectionError)
    assert.equal(seen.length, 1)
    assert.equal((await w.ok(org.owner.token, 'projects.list')).projects.filter(({ name }: { name: string }) => name === 'Once').length, 1)
  })

  await t.test('any call that was rejected before it started is retried after Retry-After', async () => {
    seen.length = 0
    const busy = () =>
      new Response(JSON.stringify({ type: '', title: '', status: 503, detail: '', instance: '', code: 'unavailable' }), {
        status: 503,
        headers: { 'retry-after': '0' },
      })
    assert.equal((await client(losing(2, busy)).projects.create({ name: 'Twice refused' })).name, 'Twice refused')
    assert.equal(seen.length, 3)
  })

  await t.test('an expired session is renewed once for all concurrent calls', async () => {
    seen.length = 0
    const kept: (SessionTokens | null)[] = []
    const gt = new Groundtrack({
      baseUrl: w.baseUrl,
      session: sessionOf(org, w),
      onSession: (tokens) => kept.push(tokens),
      fetch: losing(0),
    })
    w.clock.advance({ minutes: 20 })
    await Promise.all([1, 2, 3, 4].map(() => gt.projects.list()))
    assert.equal(seen.filter(({ path }) => path === '/auth/refresh').length, 1)
    assert.equal(kept.length, 1)
    assert.equal((await gt.projects.list()).total, 3)
  })

  await t.test('a signal aborts a call and its retries', async () => {
    const stop = new AbortController()
    const waiting = client(losing(99)).projects.list({}, { signal: stop.signal }).all()
    stop.abort(new Error('enough'))
    assert.match(String(await rejection(waiting)), /enough/)
  })
})

// Goal: files are uploaded and downloaded with progress, in parts, and interrupted transfers resume.
test('files', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const gt = new Groundtrack({ baseUrl: w.baseUrl, session: sessionOf(org, w) })
  const folder = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-client-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const bytes = await scene()
  const file = path.join(folder, 'field.tif')
  writeFileSync(file, bytes)
  const chunkBytes = Math.ceil(bytes.length / 5)

  await t.test('uploaded in parts, downloaded whole', async () => {
    const steps: number[] = []
    const upload = await gt.upload({
      projectId: org.projectId,
      files: [await openFile(file)],
      chunkBytes,
      onProgress: ({ sentBytes }) => steps.push(sentBytes),
    })
    assert.equal(upload.item_ids.length, 1)
    assert.ok(steps.length >= 5 && steps.at(-1) === bytes.length, String(steps))
    const itemId = upload.item_ids[0]!
    let received = 0
    const target = path.join(folder, 'back.tif')
    await saveTo(target, await gt.download({ itemId, onProgress: ({ receivedBytes }) => void (received = receivedBytes) }))
    assert.deepEqual(readFileSync(target), Buffer.from(bytes))
    assert.equal(received, bytes.length)
    const tile = await gt.items.tile.render({ item_id: itemId, z: 0, x: 0, y: 0, format: 'png' })
    assert.equal(tile.headers.get('content-type'), 'image/png')
    assert.match(await gt.items.tile.wmtsCapabilities({ item_id: itemId, base_url: w.baseUrl }), /^<\?xml/)
  })

  await t.test('a stream of known length, and one of unknown', async () => {
    const stream = () => new Blob([bytes as never]).stream() as ReadableStream<Uint8Array>
    for (const size of [bytes.length, undefined]) {
      const files = [{ name: `stream-${size}.tif`, data: stream(), size }]
      assert.equal((await gt.upload({ projectId: org.projectId, files, chunkBytes })).item_ids.length, 1)
    }
  })

  await t.test('an interrupted upload resumes after its last part', async () => {
    const blob = new Blob([bytes as never])
    const broken = new Blob([bytes as never])
    broken.slice = (from = 0, to = 0) => {
      if (from >= 2 * chunkBytes) throw new Error('the disk was unplugged')
      return blob.slice(from, to)
    }
    const options = { projectId: org.projectId, chunkBytes }
    const error = await rejection(gt.upload({ ...options, files: [{ name: 'broken.tif', data: broken }] }))
    assert.ok(error instanceof UploadError)
    const state = JSON.parse(JSON.stringify(error.state))
    const steps: number[] = []
    const upload = await gt.upload({
      ...options,
      files: [{ name: 'broken.tif', data: blob }],
      resume: state,
      onProgress: ({ sentBytes }) => steps.push(sentBytes),
    })
    assert.equal(upload.id, state.uploadId)
    assert.equal(steps[0], 2 * chunkBytes, 'what has come is not sent again')
    assert.equal(upload.item_ids.length, 1)
  })

  await t.test('an upload that takes much longer than its URL is valid completes, and sends no byte twice', async (t) => {
    const sent: number[] = []
    let reached = 0
    const real = globalThis.fetch
    t.mock.method(globalThis, 'fetch', async (url: string, init: RequestInit) => {
      const range = new Headers(init.headers).get('content-range')
      const response = await real(url, init)
      if (init.method === 'PUT' && response.status !== 403 && range && !range.includes('*'))
        sent.push(...[/ (\d+)-/.exec(range)![1]!].map(Number))
      return response
    })
    const upload = await gt.upload({
      projectId: org.projectId,
      files: [await openFile(file)],
      chunkBytes,
      onProgress({ sentBytes }) {
        if (sentBytes > reached) w.clock.advance({ minutes: 20 }) // Longer than an address lives, between any two pieces.
        reached = sentBytes
      },
    })
    assert.equal(upload.item_ids.length, 1)
    assert.deepEqual(
      sent,
      [0, 1, 2, 3, 4].map((index) => index * chunkBytes),
    )
    const target = path.join(folder, 'long.tif')
    await saveTo(target, await gt.download({ itemId: upload.item_ids[0]! }))
    assert.deepEqual(readFileSync(target), Buffer.from(bytes))
  })

  await t.test('a store that is temporarily unavailable, and one that restarts during a part', async (t) => {
    const real = globalThis.fetch
    let calls = 0
    t.mock.method(globalThis, 'fetch', async (url: string, init: RequestInit) => {
      if (init.method !== 'PUT') return await real(url, init)
      calls++
      if (calls === 2 || calls === 3) throw new TypeError('fetch failed')
      if (calls === 6) return new Response('', { status: 502 })
      return await real(url, init)
    })
    const steps: number[] = []
    const upload = await gt.upload({
      projectId: org.projectId,
      files: [{ name: 'away.tif', data: new Blob([bytes as never]).stream() as ReadableStream<Uint8Array>, size: bytes.length }],
      chunkBytes,
      onProgress: ({ sentBytes }) => steps.push(sentBytes),
    })
    assert.equal(upload.item_ids.length, 1)
    assert.deepEqual(
      steps.toSorted((a, b) => a - b),
      steps,
      'it never goes back',
    )
  })

  await t.test('a file that is not a raster is rejected with the reason', async () => {
    const files = [{ name: 'notes.tif', data: new Uint8Array(100) }]
    assert.ok(isProblem(await rejection(gt.upload({ projectId: org.projectId, files })), 'unreadable-raster'))
  })
})
