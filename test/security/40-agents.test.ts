import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations } from '#registry.ts'
import { world } from '../support/world.ts'

const MESSAGE = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
const ACCEPT = { accept: 'application/json, text/event-stream' }

// Goal: pages of other origins cannot use the tools, only bearer credentials are accepted, and spending must be enabled.
test('row 40: tools for agents', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { key } = await w.key(org.owner.token, ['read'])
  const bearer = { authorization: `Bearer ${key}`, ...ACCEPT }
  const send = (headers: Record<string, string>, path = '/mcp') => w.post(path, MESSAGE, headers)

  await t.test('a page of another origin is rejected before its credential is checked', async () => {
    for (const origin of ['https://evil.example', 'null', w.baseUrl.replace(/\d+$/, '1'), w.baseUrl.replace('http:', 'https:')]) {
      const { status, body } = await send({ ...bearer, origin })
      assert.deepEqual([status, body.code], [403, 'forbidden'], origin)
    }
    assert.equal((await send({ ...bearer, origin: w.baseUrl })).status, 200)
    assert.equal((await send(bearer)).status, 200)
  })

  await t.test('bearer only', async () => {
    assert.equal((await send(ACCEPT)).status, 401)
    assert.equal((await send({ ...ACCEPT, 'x-api-key': key })).status, 401)
    assert.equal((await send(ACCEPT, `/mcp?key=${key}`)).status, 401)
    assert.equal((await send({ ...ACCEPT, cookie: `groundtrack_refresh=${org.owner.refreshToken}` })).status, 401)
    assert.equal((await send({ ...bearer, authorization: 'Bearer svc_wrong' })).status, 401)
    assert.equal((await w.request('GET', '/mcp', { headers: bearer })).status, 405)
  })

  await t.test('a large body is not read without a credential, and a huge one never', async () => {
    const huge = JSON.stringify({ ...MESSAGE, params: { filler: 'x'.repeat(300_000) } })
    const type = { 'content-type': 'application/json' }
    assert.equal((await w.request('POST', '/mcp', { headers: { ...type, ...ACCEPT }, body: huge })).status, 401)
    assert.equal((await w.request('POST', '/mcp', { headers: { ...type, ...bearer }, body: huge })).status, 413)
  })

  await t.test('spending must be enabled, and then requires the price', async () => {
    await w.ok(org.owner.token, 'payment_methods.attach', { payment_method_id: 'pm_card_visa' })
    const call = async (query: string, more: object = {}) => {
      const message = {
        jsonrpc: '2.0',
        id: 2,
        method: 'tools/call',
        params: { name: 'billing_topup', arguments: { aud_cents: 10_000, ...more } },
      }
      const answer = await w.post(`/mcp?tools=billing${query}`, message, { authorization: `Bearer ${org.owner.token}`, ...ACCEPT })
      return resultOf(answer.bytes.toString())
    }
    const balance = async () => (await w.ok(org.owner.token, 'billing.credits.balance')).balance_credits
    for (const query of ['', '&write=1']) assert.match((await call(query)).content[0].text, /nothing was done/)
    const asked = await call('&spend=1')
    assert.equal(asked.isError, true)
    assert.match(asked.content[0].text, /10000 credits \(A\$100\.00\).*confirm_credits: 10000/)
    assert.match((await call('&spend=1', { confirm_credits: 1 })).content[0].text, /1 is not the current price/)
    assert.equal(await balance(), 0)
    const done = await call('&spend=1', { confirm_credits: 10_000, idempotency_key: 'once' })
    assert.equal(done.structuredContent.credits_granted, 10_000)
    await call('&spend=1', { confirm_credits: 10_000, idempotency_key: 'once' })
    assert.equal(await balance(), 10_000, 'the same key spends once')
  })
})

// Goal: each permission of an agent has its own parameter, which enables no other.
test('row 40: each kind of tool is enabled by its own parameter', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const headers = { authorization: `Bearer ${org.owner.token}`, ...ACCEPT }
  const tiersOf = async (query: string) => {
    const { bytes } = await w.post(`/mcp?tools=all${query}`, MESSAGE, headers)
    const names = new Set<string>(resultOf(bytes.toString()).tools.map(({ name }: { name: string }) => name))
    return new Set([...operations.values()].filter(({ id }) => names.has(id.replaceAll('.', '_'))).map(({ tier }) => tier))
  }
  const KINDS = [
    ['write', ['compute', 'share_export']],
    ['delete', ['destructive']],
    ['spend', ['external_spend']],
  ] as const
  for (let chosen = 0; chosen < 2 ** KINDS.length; chosen++) {
    const on = KINDS.filter((_, index) => chosen & (2 ** index))
    const query = on.map(([name]) => `&${name}=1`).join('')
    await t.test(`tools with ${query || 'no parameter'}`, async () =>
      assert.deepEqual(await tiersOf(query), new Set(['read', ...on.flatMap(([, tiers]) => tiers)])),
    )
  }

  await t.test('a tool that is not enabled is rejected, with what it requires', async () => {
    const call = async (query: string) => {
      const params = { name: 'projects_delete', arguments: { project_id: org.projectId } }
      const { bytes } = await w.post(`/mcp?tools=projects${query}`, { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers)
      return resultOf(bytes.toString())
    }
    for (const query of ['', '&write=1', '&spend=1', '&write=1&spend=1'])
      assert.match((await call(query)).content[0].text, /nothing was done.*delete=1/)
    assert.equal((await w.call(org.owner.token, 'projects.get', { project_id: org.projectId })).status, 200)
    assert.notEqual((await call('&delete=1')).isError, true)
  })

  await t.test('projects can be listed with any tool sets', async () => {
    const { bytes } = await w.post('/mcp?tools=catalog,items', MESSAGE, headers)
    const names = resultOf(bytes.toString()).tools.map(({ name }: { name: string }) => name)
    assert.ok(names.includes('projects_list') && !names.includes('projects_get'))
  })
})

/** A single answer, plain or as the one event of a stream. */
// oxlint-disable-next-line typescript/no-explicit-any
function resultOf(text: string): any {
  const data = text.startsWith('{')
    ? text
    : text
        .split('\n')
        .find((line) => line.startsWith('data:'))!
        .slice('data:'.length)
  return JSON.parse(data).result
}
