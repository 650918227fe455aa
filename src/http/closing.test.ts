import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { fastify } from 'fastify'
import { closeServer } from './server.ts'

const CLIENTS = 20
const CONNECTED = 0

/** Connects and sends a request on each connection, counts them in shared memory, and reports the first line of each response. */
const CLIENT = `
  const net = require('node:net')
  const { parentPort, workerData: { port, count, shared } } = require('node:worker_threads')
  const request = () => new Promise((resolve) => {
    let text = ''
    const socket = net.connect(port, '127.0.0.1', () => {
      socket.write('GET / HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n', () => {
        if (Atomics.add(shared, 0, 1) + 1 === count) Atomics.notify(shared, 0)
      })
    })
    socket.on('data', (data) => { text += data })
    socket.on('error', ({ code }) => resolve(code))
    socket.on('close', () => resolve(text.split('\\r\\n')[0]))
  })
  Promise.all(Array.from({ length: count }, request)).then((lines) => parentPort.postMessage(lines))
`

// Goal: a process that stops answers every request whose connection the kernel has taken for it, also those that it has not yet
// accepted because it was busy: a load balancer that has sent a request does not send it again.
test('a server that stops while connections wait for it', async () => {
  const app = fastify({ return503OnClosing: false })
  app.get('/', async () => 'served')
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const shared = new Int32Array(new SharedArrayBuffer(4))
  const clients = new Worker(CLIENT, { eval: true, workerData: { port, count: CLIENTS, shared } })
  const reported = once(clients, 'message')
  // Busy: nothing is accepted meanwhile.
  for (let n = 0; n < CLIENTS; n = Atomics.load(shared, CONNECTED)) Atomics.wait(shared, CONNECTED, n)
  await closeServer(app)
  const [lines] = await reported
  assert.deepEqual(lines, Array<string>(CLIENTS).fill('HTTP/1.1 200 OK'))
  await clients.terminate()
})
