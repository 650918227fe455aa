import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { test, type TestContext } from 'node:test'
import { Client as Agent, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { isPublished } from '#http/openapi.ts'
import type { AnyOperation } from '#operation.ts'
import { operations } from '#registry.ts'
import { EXAMPLE_ITEM } from '#wire/item.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'
import { flagOf } from '../../packages/cli/src/catalogue.ts'
import { Groundtrack, Lines, OPERATION_IDS, ProblemError, type Page } from '../../packages/client/src/index.ts'
import { camel } from '../../tools/typescript.ts'
import { scene } from '../support/scene.ts'
import { world, type World } from '../support/world.ts'

/** What a way of calling brought: the status where it is known, and the answer in a form that can be compared. */
interface Outcome {
  failed: boolean
  code: string | null
  answer: unknown
}

type Way = (op: AnyOperation, input: Record<string, unknown>) => Promise<Outcome>

/** Answers that change from call to call, or that count calls: compared by their shape. */
const COUNTING = ['usage.current', 'usage.history', 'organizations.audit.list']

/** What may be done once, and what a second try is told. */
const ONCE: Readonly<Record<string, string>> = {
  'items.delete': 'not-found',
  'projects.delete': 'not-found',
  'organizations.create': 'bad-request',
  'band_formulas.create': 'bad-request',
}

const COUNTED = /(?<="(?:last_used_at|total_requests)":)[^,}]+/g
const VOLATILE =
  /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z|(?<=[=/_:"])[\w-]{20,}(?=["&/?])|(?<=expires=)\d+/g

/** Ids, times and tokens differ; everything else must not. */
const settled = (value: unknown) =>
  JSON.parse(
    JSON.stringify(value ?? null)
      .replaceAll(COUNTED, '0')
      .replaceAll(VOLATILE, '…'),
  ) as unknown

function shape(value: unknown): unknown {
  if (Array.isArray(value)) return value.length > 0 ? [shape(value[0])] : []
  if (value === null || typeof value !== 'object') return value === null ? 'null' : typeof value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, shape(part)]))
}

const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const parse = (op: AnyOperation, bytes: Buffer): unknown => {
  if (op.raw === 'bytes') return digest(bytes)
  if (op.raw === 'ndjson')
    return bytes
      .toString()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as unknown)
  return op.raw === 'xml' ? bytes.toString() : (JSON.parse(bytes.toString()) as unknown)
}

const overHttp =
  (w: World, key: string): Way =>
  async (op, input) => {
    const { status, bytes, body } = await w.call(key, op.id, input)
    return status < 300
      ? { failed: false, code: null, answer: parse(op, bytes) }
      : { failed: true, code: body.code, answer: { ...body, instance: '…' } }
  }

const byClient =
  (gt: Groundtrack): Way =>
  async ({ id }, input) => {
    const names = id.split('.').map(camel)
    type Api = Record<string, unknown>
    const holder = names.slice(0, -1).reduce<Api>((api, name) => api[name] as Api, gt as object as Api)
    const method = (holder[names.at(-1)!] as (input: object) => unknown).bind(holder)
    try {
      const result = method(input)
      if (result instanceof Lines) {
        const lines: unknown[] = []
        for await (const line of result) lines.push(line)
        return { failed: false, code: null, answer: lines }
      }
      const answer = await (result as Promise<unknown> | Page<unknown, unknown>)
      return { failed: false, code: null, answer: answer instanceof Response ? digest(Buffer.from(await answer.arrayBuffer())) : answer }
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      return { failed: true, code: error.slug, answer: { ...error.problem, instance: '…' } }
    }
  }

/** By its id alone, as an operator does it: those operations are in no generated file. */
const byId =
  (gt: Groundtrack): Way =>
  async ({ id }, input) => {
    try {
      return { failed: false, code: null, answer: await gt.call(id, input) }
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      return { failed: true, code: error.slug, answer: { ...error.problem, instance: '…' } }
    }
  }

/** Fields as flags, the way a person would type them. */
const flags = (input: Readonly<Record<string, unknown>>) =>
  Object.entries(input).flatMap(([name, value]) => [`--${flagOf(name)}=${typeof value === 'string' ? value : JSON.stringify(value)}`])

const asCommand = (op: AnyOperation, input: Readonly<Record<string, unknown>>) => [
  ...op.id.split('.').map((part) => part.replaceAll('_', '-')),
  ...flags(input),
]

function byCommands(t: TestContext, w: World, key: string, words = asCommand): Way {
  const env = { ...process.env, GROUNDTRACK_URL: w.baseUrl, GROUNDTRACK_API_KEY: key, GROUNDTRACK_CONFIG: '/nonexistent/accounts.json' }
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'walk-commands.ts')], { stdio: ['pipe', 'pipe', 'inherit'], env })
  t.after(() => child.kill())
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return async (op, input) => {
    child.stdin.write(`${JSON.stringify([...words(op, input), '--yes', '--retries=0'])}\n`)
    const { code, stdout, stderr } = JSON.parse((await lines.next()).value as string) as Record<'stdout' | 'stderr', string> & {
      code: number
    }
    const said = Buffer.from(stderr, 'base64').toString()
    if (code === 0) return { failed: false, code: null, answer: parse(op, Buffer.from(stdout, 'base64')) }
    return { failed: true, code: /\(([\w-]+), urn:uuid:/.exec(said)?.[1] ?? said, answer: null }
  }
}

function byTools(agent: Agent): Way {
  const call = (name: string, input: object) => agent.callTool({ name, arguments: { ...input } })
  return async (op, input) => {
    const name = op.id.replaceAll('.', '_')
    let output = await call(name, input)
    const price = /confirm_credits: (\d+)/.exec((output.content as { text?: string }[])[0]?.text ?? '')?.[1]
    if (price) output = await call(name, { ...input, confirm_credits: Number(price) })
    const [first] = output.content as { type: string; text?: string; data?: string }[]
    if (output.isError) {
      const problem = output.structuredContent as { code: string } | undefined
      return { failed: true, code: problem?.code ?? null, answer: problem ? { ...problem, instance: '…' } : null }
    }
    const bytes = first!.type === 'image' ? Buffer.from(first!.data!, 'base64') : Buffer.from(first!.text!)
    return { failed: false, code: null, answer: parse(op, bytes) }
  }
}

// Goal: every operation can be called through the client, the command line and agent tools, with the same result as over HTTP.
test('every operation, four ways', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { body } = await w.upload(org.owner.token, org.projectId, { 'field.tif': await scene() })
  const [itemId] = body.item_ids as string[]
  const { key } = await w.key(org.owner.token, ['read', 'write', 'process'])
  const agent = new Agent({ name: 'test', version: '1.0.0' })
  await agent.connect(
    new StreamableHTTPClientTransport(new URL(`${w.baseUrl}/mcp?tools=all&write=1&delete=1&spend=1`), {
      requestInit: { headers: { authorization: `Bearer ${key}` } },
    }),
  )
  t.after(() => agent.close())
  const published = [...operations.values()].filter(isPublished)
  assert.deepEqual([...OPERATION_IDS].toSorted(), published.map(({ id }) => id).toSorted(), 'the client has all of them and no other')

  const direct = overHttp(w, key)
  const ways: Record<string, Way> = {
    client: byClient(new Groundtrack({ baseUrl: w.baseUrl, apiKey: key, maxRetries: 0 })),
    'command line': byCommands(t, w, key),
    tools: byTools(agent),
  }
  /** Examples speak of one small world; what of it is here has other ids. */
  const here = { [EXAMPLE_IDS.project]: org.projectId, [EXAMPLE_ITEM.id]: itemId! }
  const inputOf = (op: AnyOperation) => {
    const text = Object.entries(here).reduce((text, [from, to]) => text.replaceAll(from, to), JSON.stringify(op.example.input))
    return JSON.parse(text) as Record<string, unknown>
  }
  // Reading first: what writes afterwards cannot change what was read.
  const order = published.toSorted((a, b) => Number(a.tier !== 'read') - Number(b.tier !== 'read'))
  const scopes = new Set(agentScopes((await agent.listTools()).tools))
  let answered = 0
  for (const op of order)
    await t.test(op.id, async () => {
      const input = inputOf(op)
      // Some may be called only once in a while; an hour is enough for all of them.
      const later = (way: Way) => (w.clock.advance({ minutes: 61 }), way(op, input))
      const expected = await later(direct)
      if (!expected.failed) answered++
      const isSame = COUNTING.includes(op.id) || op.tier !== 'read' ? shape : settled
      for (const [name, way] of Object.entries(ways)) {
        const got = await later(way)
        if (ONCE[op.id] !== undefined && got.code === ONCE[op.id]) continue
        assert.equal(got.failed, expected.failed, `${name}: ${JSON.stringify(got).slice(0, 500)}`)
        // A tool that the credential does not reach is not there; one that spends asks for the price first, and fails on that.
        const isHidden = name === 'tools' && (!scopes.has(op.id.replaceAll('.', '_')) || op.tier === 'external_spend')
        if (expected.failed && !isHidden) assert.equal(got.code, expected.code, name)
        if (!expected.failed) assert.deepEqual(settled(isSame(got.answer)), settled(isSame(expected.answer)), name)
        else if (name === 'client') assert.deepEqual(settled(got.answer), settled(expected.answer))
      }
    })
  t.diagnostic(`${published.length} operations; ${answered} answered, ${published.length - answered} were refused alike`)
  assert.ok(answered > published.length / 3, 'enough of them bring an answer')
})

// Goal: operator operations can be called by ID through the client and the command line, and agents never see them.
test('every operator operation, by ID', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const ofOperators = [...operations.values()].filter((op) => !isPublished(op))
  const token = await w.serviceToken(org.id)
  const ways: Record<string, Way> = {
    client: byId(new Groundtrack({ baseUrl: w.baseUrl, apiKey: token, maxRetries: 0 })),
    'command line': byCommands(t, w, token, (op, input) => ['call', op.id, JSON.stringify(input)]),
  }
  let answered = 0
  for (const op of ofOperators)
    await t.test(op.id, async () => {
      const expected = await overHttp(w, token)(op, op.example.input as Record<string, unknown>)
      if (!expected.failed) answered++
      for (const [name, way] of Object.entries(ways)) {
        const got = await way(op, op.example.input as Record<string, unknown>)
        assert.deepEqual([got.failed, got.code], [expected.failed, expected.code], `${name}: ${JSON.stringify(got).slice(0, 500)}`)
        if (!expected.failed) assert.deepEqual(shape(got.answer), shape(expected.answer), name)
      }
    })
  t.diagnostic(`${ofOperators.length} operations; ${answered} answered, ${ofOperators.length - answered} were refused alike`)
  const agent = new Agent({ name: 'test', version: '1.0.0' })
  const headers = { authorization: `Bearer ${token}` }
  await agent.connect(
    new StreamableHTTPClientTransport(new URL(`${w.baseUrl}/mcp?tools=all&write=1&delete=1&spend=1`), { requestInit: { headers } }),
  )
  t.after(() => agent.close())
  const tools = new Set(agentScopes((await agent.listTools()).tools))
  assert.deepEqual(
    ofOperators.filter(({ id }) => tools.has(id.replaceAll('.', '_'))),
    [],
  )
})

const agentScopes = (tools: readonly { name: string }[]) => tools.map(({ name }) => name)
