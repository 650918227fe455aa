import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations } from '#registry.ts'
import type { AnyOperation } from '#operation.ts'
import { world } from '../support/world.ts'

const ACCEPT = { accept: 'application/json, text/event-stream' }

// Goal: an agent that lists tools again and again costs nobody anything: descriptions are built once, lists once for each
// selection and never more than a bounded number of them, and every authenticated route waits for its organization's turn.
test('row 53: tool lists are built once, within the fair scheduler', async (t) => {
  let builds = 0
  const counted = (id: string): AnyOperation => {
    const op = operations.get(id)!
    const schema = JSON.parse(JSON.stringify(op.input)) as object
    const toJSON = () => {
      builds++
      return schema
    }
    return { ...op, input: Object.defineProperty({ ...op.input }, 'toJSON', { value: toJSON }) } as AnyOperation
  }
  const w = await world(t, { operations: [counted('items.get')] })
  const org = await w.organization()
  const { key } = await w.key(org.owner.token, ['read', 'write'])
  const turns: string[] = []
  const { run } = w.platform.scheduler
  ;(w.platform.scheduler as { run: typeof run }).run = (name, call, work) => {
    turns.push(name)
    return run(name, call, work)
  }
  const ask = async (method: string, params: object, query = '', credential = key, id: number | string = 1) => {
    const { status, bytes } = await w.post(
      `/mcp${query}`,
      { jsonrpc: '2.0', id, method, params },
      { authorization: `Bearer ${credential}`, ...ACCEPT },
    )
    assert.equal(status, 200)
    return bytes.toString()
  }

  await t.test('one description for a hundred calls, whatever the selection', async () => {
    await w.call(key, 'items.get', { item_id: 'x' }) // Compiles its validator, which reads the schema too.
    builds = 0
    const lists = await Promise.all(Array.from({ length: 50 }, () => ask('tools/list', {})))
    assert.equal(new Set(lists).size, 1)
    const other = await ask('tools/list', {}, '', key, '"$&"')
    assert.equal(other.replace(JSON.stringify('"$&"'), '1'), lists[0])
    assert.match(lists[0]!, /"items_get"/)
    for (let n = 0; n < 50; n++) await ask('tools/list', {}, ['', '?tools=items', '?tools=items,catalog&write=1', '?tools=all'][n % 4])
    await ask('tools/list', {}, '?tools=items', org.owner.token)
    assert.equal(builds, 1)
    await ask('tools/call', { name: 'items_get', arguments: { item_id: 'x' } })
    assert.equal(builds, 1, 'a call builds nothing')
  })

  await t.test('every authenticated route waits for a slot of the organization', async () => {
    const headers = { authorization: `Bearer ${org.owner.token}` }
    const counts = async (work: () => Promise<unknown>) => {
      turns.splice(0)
      await work()
      return turns.filter((name) => name === org.id || name === org.owner.id).length
    }
    for (const method of ['initialize', 'tools/list', 'ping'])
      assert.ok(
        (await counts(() => ask(method, { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } }))) >=
          1,
      )
    assert.ok((await counts(() => ask('tools/call', { name: 'items_get', arguments: { item_id: 'x' } }))) >= 2, 'its operation has its own')
    for (const route of ['/v1/event-types', '/auth/me', '/auth/sessions', '/auth/notifications'])
      assert.equal(await counts(() => w.request('GET', route, { headers })), 1, route)
    const unknown = { ...headers, 'last-event-id': '00000000-0000-7000-8000-000000000000' }
    const refused = await counts(async () => assert.equal((await w.request('GET', '/v1/events', { headers: unknown })).status, 422))
    assert.equal(refused, 1, 'a stream of events that is refused')
  })
})
