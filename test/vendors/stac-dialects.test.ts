// Goal: a STAC API is searched in its own dialect: its page size and its way to filter, and what it does not filter is filtered here.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { parseRegistry } from '#adapters/vendors/registry.ts'
import { pageOf, registryOf } from '../../bench/lib/hosts.ts'
import { world } from '../support/world.ts'

test('dialects of STAC APIs', async (t) => {
  const bodies: Record<string, unknown>[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const parsed = JSON.parse(body) as { limit: number }
      bodies.push(parsed)
      const page = pageOf('scenes', `http://${request.headers.host}${request.url!.replace('/search', '')}`, 100, parsed)
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(page))
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const file = registryOf(['query', 'cql2', 'none'], address)
  const sources = file.sources.map((source) => ({ ...source, filter: source.id, pageLimit: 40 }))
  const registry = parseRegistry(JSON.stringify({ ...file, sources }), 'the registry of this test', { sandboxUrl: null })
  const w = await world(t, { sources: registry, egressAllow: [address] })
  const search = async (hostName: string) => {
    const cloudCover = { operator: 'LTE', percent: 9 } as const
    const { scenes } = await w.platform.services.vendors.catalog(hostName).search({ collections: ['scenes'], cloudCover, limit: 90 })
    assert.equal(scenes.length, 10, 'the host filters nothing')
    const { limit, query, filter } = bodies.at(-1)!
    return { limit, query, filter }
  }
  assert.deepEqual(await search('query'), { limit: 40, query: { 'eo:cloud_cover': { lte: 9 } }, filter: undefined })
  const filter = { op: '<=', args: [{ property: 'eo:cloud_cover' }, 9] }
  assert.deepEqual(await search('cql2'), { limit: 40, query: undefined, filter })
  assert.equal(bodies.at(-1)!['filter-lang'], 'cql2-json')
  assert.deepEqual(await search('none'), { limit: 40, query: undefined, filter: undefined })
})
