// Goal: a host that hangs, refuses or limits requests is known and named, is logged once, delays no search of the others, and is
// searched again once it responds.
import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { parseRegistry } from '#adapters/vendors/registry.ts'
import probeSources from '#domains/catalog/probe-sources.task.ts'
import { pageOf, registryOf } from '../../bench/lib/hosts.ts'
import { world, type World } from '../support/world.ts'

const NAMES = ['good', 'hanging', 'limiting', 'refusing'] as const
type Name = (typeof NAMES)[number]

/** Hosts that respond, unless `faulty` names them; each then has the fault of its name. */
async function startHosts(t: TestContext) {
  const faulty = new Set<Name>(['hanging', 'limiting', 'refusing'])
  const asked = new Map<string, number>()
  const held: ServerResponse[] = []
  const server = createServer((request, response) => {
    void (async () => {
      const name = request.url!.split('/')[1] as Name
      asked.set(name, (asked.get(name) ?? 0) + 1)
      const body = JSON.parse((await text(request)) || '{}') as { limit?: number; token?: string }
      if (faulty.has(name)) {
        if (name === 'hanging') return void held.push(response)
        response.writeHead(name === 'limiting' ? 429 : 503, name === 'limiting' ? { 'retry-after': '600' } : {})
        return void response.end('{}')
      }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(pageOf(name, `http://${request.headers.host}/${name}`, 3, body)))
    })()
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const sources = parseRegistry(JSON.stringify(registryOf(NAMES, address)), 'the registry of this test', { sandboxUrl: null })
  return { faulty, asked, sources, egressAllow: [address] }
}

interface SourceReport {
  source_id: string
  count: number
  error: string | null
}

const statusesOf = async (w: World, token: string) => {
  const { sources } = await w.ok(token, 'catalog.sources.list')
  return Object.fromEntries(sources.map(({ id, status }: { id: string; status: string }) => [id, status]))
}
const warnings = (w: World) => w.logLines.filter((line) => line.includes('do not respond'))

test('hosts that do not respond', async (t) => {
  const hosts = await startHosts(t)
  const w = await world(t, { ...hosts, hostDeadlineFactor: 1 })
  const { owner } = await w.organization()
  const { key } = await w.key(owner.token, ['read']) // A session would expire meanwhile.
  const search = async () => {
    const { features, sources } = await w.ok(key, 'catalog.federated_search', { bbox: [0, 0, 1, 1] })
    return { features, errors: Object.fromEntries(sources.map(({ source_id, error }: SourceReport) => [source_id, error])) }
  }

  await t.test('a probe finds them, and tells the operator once', async () => {
    assert.deepEqual(await statusesOf(w, key), { good: 'unknown', hanging: 'unknown', limiting: 'unknown', refusing: 'unknown' })
    await w.runTask(probeSources, { at_start: true })
    const down = { good: 'reachable', hanging: 'unreachable', limiting: 'unreachable', refusing: 'unreachable' }
    assert.deepEqual(await statusesOf(w, key), down)
    const { sources } = await w.ok(key, 'catalog.sources.list')
    const refusing = sources.find(({ id }: { id: string }) => id === 'refusing')
    assert.deepEqual([refusing.status_since, refusing.status_error], [w.clock.now().toISOString(), 'refusing answered 503'])
    w.clock.advance({ minutes: 3 })
    await w.runTask(probeSources)
    assert.deepEqual(await statusesOf(w, key), down)
    assert.equal(warnings(w).length, 1)
    assert.match(warnings(w)[0]!, /hanging.*limiting.*refusing.*OFFLINE=1/)
  })

  await t.test('a search of all does not ask them, and says why', async () => {
    const before = new Map(hosts.asked)
    const { features, errors } = await search()
    assert.deepEqual(
      features.map(({ id }: { id: string }) => id),
      ['good-0', 'good-1', 'good-2'],
    )
    assert.equal(errors['good'], null)
    for (const name of ['hanging', 'limiting', 'refusing'] as const) {
      assert.match(errors[name], /has not responded since 2030-01-01T00:00:00\.000Z/)
      assert.equal(hosts.asked.get(name), before.get(name), 'not asked')
    }
    const { complete } = await w.ok(key, 'catalog.aggregate', { bbox: [0, 0, 1, 1] })
    assert.equal(complete, false)
  })

  await t.test('a host that is not due is not probed, and other processes share the turn', async (t) => {
    const other = await world(t, { ...hosts, databaseUrl: w.databaseUrl })
    other.clock.advance({ minutes: 3 })
    const before = new Map(hosts.asked)
    await Promise.all([w.runTask(probeSources), other.runTask(probeSources)])
    assert.deepEqual(hosts.asked, before)
    await other.runTask(probeSources, { at_start: true })
    assert.deepEqual(hosts.asked, new Map([...before, ['good', before.get('good')! + 1]]), 'the others were probed a moment ago')
    const later = { minutes: 10 }
    w.clock.advance(later)
    other.clock.advance(later)
    await Promise.all([w.runTask(probeSources), other.runTask(probeSources)])
    assert.equal(hosts.asked.get('good'), before.get('good')! + 2)
    assert.equal(hosts.asked.get('hanging'), before.get('hanging')! + 1)
  })

  await t.test('once they respond, they are searched again', async () => {
    hosts.faulty.clear()
    w.clock.advance({ minutes: 5 })
    await w.runTask(probeSources)
    assert.deepEqual(await statusesOf(w, key), {
      good: 'reachable',
      hanging: 'reachable',
      limiting: 'unreachable',
      refusing: 'reachable',
    })
    assert.equal(w.logLines.filter((line) => line.includes('respond again: hanging, refusing')).length, 1)
    const { features, errors } = await search()
    assert.equal(features.length, 9)
    assert.deepEqual([errors['hanging'], errors['refusing']], [null, null])
    assert.match(errors['limiting'], /limits requests; try again in/, 'it asked for a longer pause')
  })
})

test('a search before the first probe does not wait for a host that hangs', async (t) => {
  const hosts = await startHosts(t)
  const w = await world(t, { ...hosts, hostDeadlineFactor: 1 })
  const { owner } = await w.organization()
  const { features, sources } = await w.ok(owner.token, 'catalog.federated_search', { bbox: [0, 0, 1, 1] })
  assert.equal(features.length, 3)
  const errors = Object.fromEntries(sources.map(({ source_id, error }: SourceReport) => [source_id, error]))
  assert.equal(errors['good'], null)
  assert.match(errors['hanging'], /did not respond in time; search it alone with catalog\.search/, 'given up, not timed out')
  const { complete } = await w.ok(owner.token, 'catalog.aggregate', { bbox: [0, 0, 1, 1] })
  assert.equal(complete, false)
  await w.runTask(probeSources, { at_start: true })
  const { response_ms } = await w.db
    .selectFrom('vendor_host')
    .select('response_ms')
    .where('host_name', '=', 'good')
    .executeTakeFirstOrThrow()
  assert.ok(response_ms !== null && response_ms >= 0)
})

test('a host that fails between two probes is skipped after two failures', async (t) => {
  const hosts = await startHosts(t)
  hosts.faulty.clear()
  const w = await world(t, { ...hosts, hostDeadlineFactor: 1 })
  const { owner } = await w.organization()
  await w.runTask(probeSources, { at_start: true })
  hosts.faulty.add('refusing')
  const errorOf = async (name: Name): Promise<string | null> => {
    const { sources } = await w.ok(owner.token, 'catalog.federated_search', { bbox: [0, 0, 1, 1] })
    return sources.find(({ source_id }: SourceReport) => source_id === name).error
  }
  for (const _ of [1, 2]) assert.equal(await errorOf('refusing'), 'refusing answered 503')
  const asked = hosts.asked.get('refusing')
  assert.match((await errorOf('refusing'))!, /answered 503; it is not asked again for \d+ s/)
  assert.equal(hosts.asked.get('refusing'), asked)
  assert.equal(await errorOf('good'), null)
  const named = await w.call(owner.token, 'catalog.search', { host_name: 'refusing', bbox: [0, 0, 1, 1] })
  assert.equal(named.status, 502, 'whoever names it gets an answer of the host itself')
  assert.ok(hosts.asked.get('refusing')! > asked!)
})
