import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { Problem } from '#core/problem.ts'
import { createBodyReader } from './read-body.ts'

const MAX_BYTES = 1_000
const MAX_BUFFERED_BYTES = 1_500

/** A server that answers with the length of the body, or with the status of the problem. */
async function startServer(t: TestContext) {
  const readBody = createBodyReader(MAX_BUFFERED_BYTES)
  const server = http.createServer((request, response) => {
    request.once('data', () => server.emit('received'))
    readBody(request, MAX_BYTES).then(
      (body) => response.end(String(body.length)),
      (error: unknown) => {
        response.writeHead(error instanceof Problem ? error.status : 500).end()
        server.emit('rejected')
      },
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  /** Sends part of a body and waits until the server has it. */
  const begin = async (bytes: number) => {
    const request = http.request({ port, host: '127.0.0.1', method: 'POST', agent: false })
    request.on('error', () => {})
    const status = new Promise<number | undefined>((resolve) => request.on('response', ({ statusCode }) => resolve(statusCode)))
    const received = once(server, 'received')
    request.write(Buffer.alloc(bytes))
    await received
    return { request, status }
  }
  return { begin, rejected: () => once(server, 'rejected') }
}

// Goal: the incomplete bodies of one server share a limit of memory, which other servers of the process do not use up.
test('the memory for incomplete bodies belongs to one server', async (t) => {
  const [first, second] = await Promise.all([startServer(t), startServer(t)])
  const pending = await first.begin(900)

  await t.test('a body that exceeds the rest is rejected with 503', async () => {
    const rejected = await first.begin(700)
    assert.equal(await rejected.status, 503)
  })

  await t.test('another server still has all of its memory', async () => {
    const accepted = await second.begin(900)
    accepted.request.end()
    assert.equal(await accepted.status, 200)
  })

  await t.test('a complete body and a lost connection free their memory', async () => {
    pending.request.end()
    assert.equal(await pending.status, 200)
    const lost = await first.begin(900)
    const rejected = first.rejected()
    lost.request.destroy()
    await rejected
    const large = await first.begin(1_001)
    assert.equal(await large.status, 413)
    const accepted = await first.begin(1_000)
    accepted.request.end()
    assert.equal(await accepted.status, 200)
  })
})
