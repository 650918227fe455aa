import assert from 'node:assert/strict'
import net from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { world, type World } from '../support/world.ts'

const HALF = 1_000
const LIMITS = { maxConnections: 400, maxPerAddress: 300 }
/** Longer than anybody waits for an answer, so that half-requests are there until something else ends them. */
const LONG_MS = 600_000
const SHORT_MS = 500
const MAX_ASKED = 500
/** Fewer than one address may have, so that time alone ends them. */
const FEW = 90
/** Before the deadlines that Node has by itself. */
const GIVE_UP_MS = 25_000

const LISTENERS = ['the API', 'the store'] as const

function listenerOf(w: World, name: (typeof LISTENERS)[number]) {
  return name === 'the API'
    ? { port: Number(new URL(w.baseUrl).port), path: '/v1/op/projects.list', asked: '/health' }
    : { port: w.storePort, path: '/objects/a/b', asked: '/objects/a/b' }
}

/** Some say nothing, some stop within their headers, and some send what is no HTTP and then keep the line. */
function halfRequests(count: number, { port, path }: { port: number; path: string }) {
  return Array.from({ length: count }, (_, n) => {
    const socket = net.connect({ port, host: '127.0.0.1' })
    socket.on('error', () => {})
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    if (n % 3 === 1) socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nX-Slow: `)
    if (n % 3 === 2) socket.write('NONSENSE\r\n\r\n')
    return { socket, closed }
  })
}

// Goal: unfinished requests only displace each other, and are closed at their deadline, at both listeners.
test('row 29: requests that never finish', async (t) => {
  for (const name of LISTENERS) {
    await t.test(`${name}: another client is served while ${HALF} unfinished requests are open`, async (t) => {
      const w = await world(t, { connections: { ...LIMITS, headersMs: LONG_MS } })
      const listener = listenerOf(w, name)
      const halves = halfRequests(HALF, listener)
      for (const { socket } of halves) socket.resume()
      await new Promise(setImmediate)
      const left = () => halves.filter(({ socket }) => !socket.closed).length
      // At least once; and until their ends have arrived here, which takes a while for so many.
      for (let n = 0; n === 0 || (n < MAX_ASKED && left() > LIMITS.maxPerAddress); n++) {
        const response = await fetch(`http://127.0.0.1:${listener.port}${listener.asked}`)
        await response.arrayBuffer()
      }
      const held = left()
      for (const { socket } of halves) socket.destroy()
      assert.ok(held > 0, 'served beside them, not after them')
      assert.ok(held <= LIMITS.maxPerAddress, `${held} of one address are held`)
    })

    await t.test(`${name}: they are closed at their deadline`, async (t) => {
      const w = await world(t, { connections: { ...LIMITS, headersMs: SHORT_MS } })
      const halves = halfRequests(FEW, listenerOf(w, name))
      for (const { socket } of halves) socket.resume()
      // Two timers of one loop: on a slow machine both are late.
      const given = new AbortController()
      const givenUp = sleep(GIVE_UP_MS, 'still there', { signal: given.signal })
      const end = await Promise.race([Promise.all(halves.map(({ closed }) => closed)).then(() => 'gone'), givenUp])
      given.abort()
      givenUp.catch(() => {})
      for (const { socket } of halves) socket.destroy()
      assert.equal(end, 'gone')
    })
  }
})
