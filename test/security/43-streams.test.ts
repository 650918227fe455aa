import assert from 'node:assert/strict'
import http from 'node:http'
import { test } from 'node:test'
import { CONNECTION_LIMITS } from '#core/connections.ts'
import { STREAM_LIMITS } from '#background/event-stream.ts'
import { world } from '../support/world.ts'

const PER_ORGANIZATION = 180
const HEALTHY_ADDRESS = '203.0.113.200'

/** Like a proxy: a connection of its own for every request, with the address that it was asked from. */
function proxied(baseUrl: string, path: string, address: string | null, headers: Record<string, string> = {}) {
  const { promise, resolve } = Promise.withResolvers<{ status: number; cut: () => Promise<void> }>()
  const forwarded: Record<string, string> = address === null ? {} : { 'x-forwarded-for': address }
  const asked = http.request(`${baseUrl}${path}`, { agent: false, headers: { ...headers, ...forwarded } }, (response) => {
    const ended = new Promise<void>((resolve) => response.on('close', resolve))
    response.on('error', () => {}).resume()
    const cut = async () => {
      asked.destroy()
      await ended
    }
    resolve({ status: response.statusCode!, cut })
  })
  asked.on('error', () => resolve({ status: 0, cut: async () => {} })).end()
  return promise
}

// Goal: behind a trusted proxy, where all clients share one address, event streams of some never block others.
test('row 43: event streams through a trusted proxy', async (t) => {
  const w = await world(t, { trustedProxies: ['127.0.0.1'] })
  const organizations = [await w.organization(), await w.organization(), await w.organization()]
  const stream = (token: string, address: string | null) => proxied(w.baseUrl, '/v1/events', address, { authorization: `Bearer ${token}` })

  for (const [name, addressOf] of [
    ['every stream from an address of its own', (caller: number, n: number) => `198.51.${caller}.${n}`],
    ['every organization at one address', (caller: number) => `198.51.100.${caller}`],
    ['all at one address', () => '198.51.100.7'],
    ['a proxy that forwards no address', () => null],
  ] as const)
    await t.test(`540 streams of three organizations, ${name}: another user is served`, async () => {
      const streams = await Promise.all(
        organizations.flatMap(({ owner }, caller) =>
          Array.from({ length: PER_ORGANIZATION }, (_, n) => stream(owner.token, addressOf(caller, n))),
        ),
      )
      assert.equal((await proxied(w.baseUrl, '/health', HEALTHY_ADDRESS)).status, 200)
      assert.equal((await proxied(w.baseUrl, '/health', addressOf(0, 0))).status, 200, 'streams leave capacity for calls')
      const statuses = new Set(streams.map(({ status }) => status))
      assert.deepEqual([...statuses].toSorted(), [200, 429])
      const open = streams.filter(({ status }) => status === 200).length
      assert.equal(open, organizations.length * STREAM_LIMITS.perUser, 'every user has their streams')
      await Promise.all(streams.map(({ cut }) => cut()))
    })

  await t.test('a forwarded address has a limited number of streams', async () => {
    const [attacker, other] = ['198.51.100.66', '198.51.100.67']
    const tokens = [...organizations, await w.organization(), await w.organization()].map(({ owner }) => owner.token)
    const streams = await Promise.all(
      tokens.flatMap((token) => Array.from({ length: STREAM_LIMITS.perUser - 1 }, () => stream(token, attacker))),
    )
    assert.equal(streams.filter(({ status }) => status === 200).length, STREAM_LIMITS.perAddress)
    assert.equal((await proxied(w.baseUrl, '/health', attacker)).status, 200)
    const theirs = await stream(tokens[4]!, other)
    assert.equal(theirs.status, 200)
    await Promise.all([...streams, theirs].map(({ cut }) => cut()))
  })
})

// Goal: forwarded requests are counted like connections: one client's requests do not displace others.
test('row 43: requests are counted by forwarded address', async (t) => {
  const maxPerAddress = 4
  const w = await world(t, { trustedProxies: ['127.0.0.1'], connections: { ...CONNECTION_LIMITS, maxPerAddress } })
  const { owner } = await w.organization()
  const open = (address: string) => proxied(w.baseUrl, '/v1/events', address, { authorization: `Bearer ${owner.token}` })
  const streams = await Promise.all(Array.from({ length: maxPerAddress + 2 }, () => open('198.51.100.1')))
  assert.deepEqual(streams.map(({ status }) => status).toSorted(), [200, 200, 200, 200, 429, 429])
  assert.equal((await proxied(w.baseUrl, '/health', '198.51.100.1')).status, 429)
  assert.equal((await proxied(w.baseUrl, '/health', '198.51.100.2')).status, 200)
  await Promise.all(streams.map(({ cut }) => cut()))
})
