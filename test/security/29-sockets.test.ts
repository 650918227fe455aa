import assert from 'node:assert/strict'
import net from 'node:net'
import { test } from 'node:test'
import { world } from '../support/world.ts'

const HALF = 1_000
const LIMITS = { maxConnections: 400, maxPerAddress: 300, headersMs: 4_000 }

// Goal: requests that never finish crowd out each other and nobody else, and are gone after their time, at both listeners.
test('row 29: sockets that never finish', async (t) => {
  const w = await world(t, { connections: LIMITS })
  const api = Number(new URL(w.baseUrl).port)

  for (const [name, port, path] of [
    ['the API', api, '/v1/op/projects.list'],
    ['the store', w.storePort, '/objects/a/b'],
  ] as const) {
    await t.test(`${name}: 1,000 half-requests`, async () => {
      const sockets: net.Socket[] = []
      const closed: Promise<void>[] = []
      for (let n = 0; n < HALF; n++) {
        const socket = net.connect({ port, host: '127.0.0.1' })
        socket.on('error', () => {})
        closed.push(new Promise((resolve) => socket.once('close', () => resolve())))
        // Some say nothing, some stop within their headers, and some send what is no HTTP and then keep the line.
        if (n % 3 === 1) socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nX-Slow: `)
        if (n % 3 === 2) socket.write('NONSENSE\r\n\r\n')
        sockets.push(socket)
      }
      await new Promise(setImmediate)
      const startedMs = performance.now()
      const response = await fetch(`http://127.0.0.1:${port}${name === 'the API' ? '/health' : '/objects/a/b'}`)
      await response.arrayBuffer()
      assert.ok(performance.now() - startedMs < 3_000, 'served beside them')
      for (const socket of sockets) socket.resume()
      await Promise.all(closed)
      assert.ok(performance.now() - startedMs < 30_000, 'all gone after their time')
    })
  }
})
