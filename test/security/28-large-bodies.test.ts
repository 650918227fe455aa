import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { test } from 'node:test'
import { longestStretchMs } from '../support/stretch.ts'
import { world, type World } from '../support/world.ts'

const MIB = 1024 ** 2
/** Of processor time. The client of these tests shares the loop with the server; parsing such a body there takes seconds. */
const MAX_STRETCH_MS = 400

/** 10 MB of tiny members: the most that parsing and validating can be made to cost for a byte. */
function tinyKeys(bytes: number): Buffer {
  const parts: string[] = []
  for (let size = 2, n = 0; size < bytes; n++) {
    const part = `"k${n}":1`
    parts.push(part)
    size += part.length + 1
  }
  return Buffer.from(`{${parts.join(',')}}`)
}

/** One for all sockets, so that the client's own memory says nothing. */
const PIECE = Buffer.alloc(1024 * 1024, 97)

/** Tiny objects in a list, where an import is let in. */
const tinyFeatures = (projectId: string, bytes: number) =>
  Buffer.from(
    `{"project_id":"${projectId}","features":{"type":"FeatureCollection","features":[` +
      `${Array.from({ length: bytes / 8 }, () => '{"a":1}').join(',')}]}}`,
  )

const sendRaw = (w: World, path: string, body: Buffer, headers: Record<string, string> = {}) =>
  w.request('POST', path, { headers: { 'content-type': 'application/json', ...headers }, body })

// Goal: no body delays other requests or holds memory, and a rejected client gets to read the reason.
test('row 28: large bodies', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const authorization = `Bearer ${org.owner.token}`
  const keys = tinyKeys(9.9 * MIB)

  await t.test('10 MB of tiny keys to every kind of route: rejected, and the event loop stays free', async () => {
    const slow: string[] = []
    for (const [path, body, headers, statuses] of [
      ['/auth/sign-in', keys, {}, [413]],
      ['/auth/sign-up', keys, {}, [413]],
      ['/auth/refresh', keys, {}, [413]],
      ['/webhooks/payments', keys, {}, [413]],
      ['/sandbox/payments/confirm', keys, {}, [413]],
      ['/v1/op/projects.list', keys, {}, [401]],
      ['/v1/op/projects.list', keys, { authorization }, [413]],
      ['/v1/op/share.link.validate', keys, {}, [413]],
      ['/v1/op/items.create', keys, { authorization }, [413]],
      ['/v1/op/items.import_stac', keys, { authorization }, [400]],
      ['/v1/op/items.import_stac', tinyFeatures(org.projectId, 9 * MIB), { authorization }, [400]],
      ['/v1/op/no.such.operation', keys, { authorization }, [404]],
      ['/no/such/url', keys, {}, [404]],
    ] as const) {
      const { result: answer, stretchMs } = await longestStretchMs(() => sendRaw(w, path, body, headers))
      assert.ok((statuses as readonly number[]).includes(answer.status), `${path} answered ${answer.status}`)
      assert.match(answer.headers.get('content-type') ?? '', /problem\+json/)
      if (stretchMs > MAX_STRETCH_MS) slow.push(`${path}: ${Math.round(stretchMs)} ms`)
    }
    assert.deepEqual(slow, [])
  })

  await t.test('an unknown URL is a 404 before any byte of the body has arrived', async () => {
    const { port } = new URL(w.baseUrl)
    for (const path of ['/no/such/url', '/v1/op/no.such.operation']) {
      const socket = net.connect(Number(port), '127.0.0.1')
      socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000000\r\n\r\n`)
      const [head] = (await once(socket, 'data')) as [Buffer]
      assert.match(head.toString(), /^HTTP\/1\.1 404 /, path)
      socket.destroy()
    }
  })

  await t.test('public operations accept 64 KiB, sign-in 16 KiB, others 256 KiB', async () => {
    const padded = (kib: number) => Buffer.concat([Buffer.from('{}'), Buffer.alloc(kib * 1024 - 2, ' ')])
    assert.notEqual((await sendRaw(w, '/auth/sign-in', padded(16))).status, 413)
    assert.equal((await sendRaw(w, '/auth/sign-in', padded(17))).status, 413)
    assert.notEqual((await sendRaw(w, '/v1/op/share.link.validate', padded(64))).status, 413)
    assert.equal((await sendRaw(w, '/v1/op/share.link.validate', padded(65))).status, 413)
    assert.equal((await sendRaw(w, '/v1/op/projects.list', padded(256), { authorization })).status, 200)
    assert.equal((await sendRaw(w, '/v1/op/projects.list', padded(257), { authorization })).status, 413)
  })

  await t.test('a large import is parsed in a thread, two per organization at a time', async () => {
    const feature = (id: string) => ({ type: 'Feature', id, geometry: null, properties: { note: 'x'.repeat(900) }, assets: {} })
    const load = (name: string) =>
      w.call(org.owner.token, 'items.import_stac', {
        project_id: org.projectId,
        features: { type: 'FeatureCollection', features: Array.from({ length: 400 }, (_, n) => feature(`${name}-${n}`)) },
      })
    assert.deepEqual((await load('one')).body, { created: 400, skipped: 0, errors: [] })
    const many = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(load))
    const statuses = many.map(({ status }) => status)
    assert.ok(
      statuses.every((status) => status === 200 || status === 429),
      statuses.join(),
    )
    assert.ok(statuses.includes(200))
  })

  await t.test('200 stalled bodies use little memory', async () => {
    const { port } = new URL(w.baseUrl)
    global.gc?.()
    const before = process.memoryUsage().rss
    const sockets = await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        const socket = net.connect(Number(port), '127.0.0.1')
        socket.on('error', () => {})
        const path = n % 2 ? '/v1/op/items.import_stac' : '/auth/sign-in'
        socket.write(
          `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\nContent-Length: ` +
            `10000000\r\n\r\n{"a":"`,
        )
        await new Promise<void>((resolve) => socket.write(PIECE, () => resolve()))
        return socket
      }),
    )
    assert.equal((await w.request('GET', '/health')).status, 200)
    const grown = process.memoryUsage().rss - before
    for (const socket of sockets) socket.destroy()
    assert.ok(grown < 120 * MIB, `${Math.round(grown / MIB)} MiB, the client's own buffers included`)
  })
})
