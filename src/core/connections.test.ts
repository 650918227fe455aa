// Goal: one address cannot hold more connections than its limit, while those of a trusted proxy, which serves many clients, count
// towards the total only.
import assert from 'node:assert/strict'
import http from 'node:http'
import net, { type AddressInfo, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { until } from '../../test/support/service.ts'
import { CONNECTION_LIMITS, guardConnections } from './connections.ts'
import { trusting } from './proxies.ts'

const LIMITS = { ...CONNECTION_LIMITS, maxConnections: 6, maxPerAddress: 3 }

/** Opens idle connections, and returns how many the server keeps. */
async function kept(t: TestContext, trusted: readonly string[], count: number): Promise<number> {
  const server = http.createServer()
  guardConnections(server, { limits: LIMITS, isTrusted: trusting(trusted) })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  let accepted = 0
  server.on('connection', () => accepted++)
  const sockets: Socket[] = Array.from({ length: count }, () => net.connect((server.address() as AddressInfo).port, '127.0.0.1'))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  for (const socket of sockets) socket.on('error', () => {}).resume()
  await until('all to be accepted', () => accepted === count)
  const open = () => new Promise<number>((resolve, reject) => server.getConnections((error, n) => (error ? reject(error) : resolve(n))))
  let last = -1
  return await until('a stable number', async () => {
    const now = await open()
    const isStable = now === last
    last = now
    return isStable ? now : null
  })
}

test('connections of one address', async (t) => {
  assert.equal(await kept(t, [], 5), LIMITS.maxPerAddress)
  assert.equal(await kept(t, ['127.0.0.0/8'], 5), 5, 'a trusted proxy')
  assert.equal(await kept(t, ['127.0.0.0/8'], 9), LIMITS.maxConnections, 'in total')
})
