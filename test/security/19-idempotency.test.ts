import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import Type from 'typebox'
import { newId } from '#core/ids.ts'
import { problem } from '#core/problem.ts'
import { Closed } from '#core/shapes.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import sweep from '#background/sweep.task.ts'
import { campaign } from '../support/campaign.ts'
import { world, type Answer, type World } from '../support/world.ts'

/** What the test can do to calls under way: hold them, and make them fail. */
interface Levers {
  /** Calls stop in `prepare` until it is opened. */
  gate: ReturnType<typeof newGate> | null
  refuse: boolean
  crash: boolean
}

function newGate() {
  const entered = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  return {
    entered: () => entered.promise,
    open: () => opened.resolve(),
    pass: () => {
      entered.resolve()
      return opened.promise
    },
  }
}

/** An operation that costs something: its effect is one project a call, its answer differs on every execution. */
function spending(levers: Levers) {
  return operation({
    id: 'test.spend',
    scope: 'projects:write',
    tier: 'external_spend',
    idempotent: true,
    input: Closed({ name: Type.String({ minLength: 1 }), n: Type.Optional(Type.Number()) }),
    output: Closed({ id: Type.String(), execution: Type.String() }),
    example: { input: { name: 'x' } },
  }).handle({
    async check() {
      if (levers.refuse) throw problem('bad-request', 'Not in this state')
    },
    async prepare() {
      await levers.gate?.pass()
    },
    async execute({ tx, principal, clock }, { name }) {
      // A person without an organization leaves no effect, only an answer: enough to see who shares a claim.
      const organizationId = principal.organizationId
        ? await projects.insert(tx, {
            organizationId: principal.organizationId,
            name,
            description: null,
            visibility: 'organization',
            region: 'us-west1',
            createdBy: principal.userId,
            now: clock.now(),
          })
        : null
      if (levers.crash) throw new Error('crashed after the effect')
      return { id: organizationId?.id ?? 'none', execution: newId() }
    },
  })
}

/** Answers with a status of its own although it wrote: the raw way to fail. */
const rawSpending = operation({
  id: 'test.raw_spend',
  scope: 'projects:write',
  tier: 'external_spend',
  idempotent: true,
  raw: 'bytes',
  input: Closed({ status: Type.Integer() }),
  output: Type.Unknown(),
  example: { input: { status: 200 } },
}).handle({ execute: async (_context, { status }) => ({ status, contentType: 'text/plain', body: Buffer.from(newId()) }) })

async function twoProcesses(t: TestContext) {
  const levers: Levers = { gate: null, refuse: false, crash: false }
  const operations = [spending(levers), rawSpending]
  const first = await world(t, { operations })
  const second = await world(t, { operations, databaseUrl: first.databaseUrl })
  const org = await first.organization()
  const { key: secret } = await first.key(org.owner.token, ['write'], { rate_limit: 1_000_000 })
  const spend = (w: World, key: string, input: object = { name: key }, credential = secret) =>
    w.call(credential, 'test.spend', input, { 'idempotency-key': key })
  const effects = async (name: string) => (await first.db.selectFrom('project').select('id').where('name', '=', name).execute()).length
  return { first, second, org, secret, levers, spend, effects }
}

const replayed = (answer: Answer) => answer.headers.get('idempotent-replayed') === 'true'

/** One execution, and everybody has its bytes. */
function requireOne(answers: readonly Answer[]): void {
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  assert.equal(new Set(answers.map(({ bytes }) => bytes.toString())).size, 1)
  assert.equal(answers.filter((answer) => !replayed(answer)).length, 1, 'exactly one is the first')
}

// Goal: one effect a key, however many identical requests race for it, in one process and across two; all get the same bytes.
test('row 19: many keys, twenty identical requests each, over two processes', async (t) => {
  const { first, second, spend, effects } = await twoProcesses(t)
  const KEYS = campaign({ short: 15, long: 60 })
  const keys = Array.from({ length: KEYS }, (_, index) => `race-${index}`)
  const races = await Promise.all(
    keys.map((key) => Promise.all(Array.from({ length: 20 }, (_, index) => spend(index % 2 ? first : second, key)))),
  )
  races.forEach(requireOne)
  for (const key of keys) assert.equal(await effects(key), 1, key)
  assert.equal(new Set(races.map((answers) => answers[0]!.body.execution)).size, KEYS)
})

test('row 19: what a claim is', async (t) => {
  const { first, second, org, secret, levers, spend, effects } = await twoProcesses(t)

  await t.test('a replay has the same bytes, says so, and executes nothing', async () => {
    const original = await spend(first, 'replay')
    const two = await spend(first, 'replay')
    requireOne([original, two])
    assert.equal(two.headers.get('content-type'), original.headers.get('content-type'))
    assert.notEqual(two.headers.get('x-svc-invocation-id'), original.headers.get('x-svc-invocation-id'), 'it is a call of its own')
    assert.equal(await effects('replay'), 1)
  })

  await t.test('without a key, every request is executed', async () => {
    for (let i = 0; i < 2; i++) await first.ok(secret, 'test.spend', { name: 'keyless' })
    assert.equal(await effects('keyless'), 2)
  })

  await t.test('another body under the same key is 409, after and during the first request, in both processes', async () => {
    await spend(first, 'body')
    levers.gate = newGate()
    const running = spend(first, 'body-running')
    await levers.gate.entered()
    for (const w of [first, second])
      for (const key of ['body', 'body-running']) {
        const { status, body } = await spend(w, key, { name: 'another' })
        assert.equal(status, 409)
        assert.equal(body.code, 'idempotency-conflict')
      }
    levers.gate.open()
    levers.gate = null
    assert.equal((await running).status, 200)
    assert.equal(await effects('another'), 0)
  })

  await t.test('identical requests during the first wait for its response, in both processes', async () => {
    levers.gate = newGate()
    const gate = levers.gate
    const running = spend(first, 'wait')
    await gate.entered()
    const waiting = [spend(first, 'wait'), spend(second, 'wait'), spend(second, 'wait')]
    let answered = 0
    for (const answer of waiting) void answer.then(() => answered++)
    await first.ok(secret, 'projects.list') // Time for a hasty answer to show itself.
    assert.equal(answered, 0)
    gate.open()
    levers.gate = null
    requireOne(await Promise.all([running, ...waiting]))
    assert.equal(await effects('wait'), 1)
  })

  await t.test('member order, white space and number formats do not change the body', async () => {
    const raw = (body: string) =>
      first.request('POST', '/v1/op/test.spend', {
        headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}`, 'idempotency-key': 'canonical' },
        body,
      })
    requireOne([
      await raw('{"name":"canonical","n":10}'),
      await raw(' {\n"n" : 1e1 ,\t"name":"\\u0063anonical" }'),
      await raw('{"n":10.0,"name":"canonical"}'),
    ])
    assert.equal((await raw('{"name":"canonical"}')).status, 409)
    assert.equal((await raw('{"name":"canonical","n":10.5}')).status, 409)
  })

  await t.test('both path forms share one claim', async () => {
    const headers = { authorization: `Bearer ${secret}`, 'idempotency-key': 'paths' }
    requireOne([
      await first.post('/v1/test/spend', { name: 'paths' }, headers),
      await second.post('/v1/op/test.spend', { name: 'paths' }, headers),
    ])
    assert.equal(await effects('paths'), 1)
  })

  await t.test('another organization, and another person without one, are independent', async () => {
    const other = await first.organization()
    const [alice, two] = [await first.person(), await first.person()]
    const executions = await Promise.all([
      spend(first, 'shared'),
      ...[other.owner, alice, two].map((who) => spend(first, 'shared', { name: 'shared' }, who.token)),
    ])
    assert.deepEqual(executions.map(replayed), [false, false, false, false])
    assert.equal(new Set(executions.map(({ body }) => body.execution)).size, 4)
    assert.equal((await spend(first, 'shared', { name: 'different' }, alice.token)).status, 409)
    assert.ok(replayed(await spend(first, 'shared', { name: 'shared' }, two.token)))
  })

  await t.test('within an organization the claim is shared by its people and keys', async () => {
    requireOne([await spend(first, 'colleagues'), await spend(second, 'colleagues', { name: 'colleagues' }, org.owner.token)])
  })

  await t.test('a replay survives a change of state, but requires a credential that can make the call', async () => {
    const once = await spend(first, 'state')
    levers.refuse = true
    assert.equal((await spend(first, 'state-new')).status, 400)
    requireOne([once, await spend(second, 'state')])
    levers.refuse = false
    const reader = await first.key(org.owner.token, ['read'])
    assert.equal((await spend(first, 'state', { name: 'state' }, reader.key)).status, 403)
    const revoked = await first.key(org.owner.token, ['write'])
    await first.ok(org.owner.token, 'api_keys.revoke', { key_id: revoked.id })
    assert.equal((await spend(first, 'state', { name: 'state' }, revoked.key)).status, 401)
    assert.equal((await first.post('/v1/op/test.spend', { name: 'state' }, { 'idempotency-key': 'state' })).status, 401)
  })

  await t.test('a key is 1 to 255 printable ASCII characters', async () => {
    for (const key of ['', 'x'.repeat(256), 'é', 'a\tb']) {
      const { status, body } = await spend(first, key, { name: 'syntax' })
      assert.equal(status, 400, JSON.stringify(key))
      assert.equal(body.code, 'invalid-idempotency-key')
    }
    assert.equal(await effects('syntax'), 0)
    for (const key of ['x', 'x'.repeat(255), 'a b ~!"#$%&/()', "' or 1=1 --"])
      requireOne([await spend(first, key, { name: 'good syntax' }), await spend(first, key, { name: 'good syntax' })])
    const ignored = await first.call(secret, 'projects.list', {}, { 'idempotency-key': 'é' })
    assert.equal(ignored.status, 200, 'operations that read do not look at it')
  })
})

// Goal: failures are not stored: the same request can be retried, but the key stays bound to its body.
test('row 19: failures release the claim and keep the body hash', async (t) => {
  const { first, second, secret, levers, spend, effects } = await twoProcesses(t)

  for (const [name, expected, lever] of [
    ['refused', 400, 'refuse'],
    ['crashed', 500, 'crash'],
  ] as const) {
    await t.test(name, async () => {
      levers[lever] = true
      for (const w of [first, second]) assert.equal((await spend(w, name)).status, expected)
      levers[lever] = false
      assert.equal(await effects(name), 0)
      assert.equal((await spend(second, name, { name: 'another' })).status, 409)
      first.clock.advance({ hours: 23 })
      second.clock.advance({ hours: 23 })
      assert.equal((await spend(first, name, { name: 'another' })).status, 409, 'for 24 hours')
      const answers = [await spend(second, name), await spend(first, name)]
      requireOne(answers)
      assert.equal(await effects(name), 1)
    })
  }

  await t.test('a raw response with an error status is not stored either', async () => {
    const raw = (status: number) => first.call(secret, 'test.raw_spend', { status }, { 'idempotency-key': `raw-${status}` })
    for (const status of [402, 404, 503]) {
      const [original, two] = [await raw(status), await raw(status)]
      assert.deepEqual([original.status, two.status], [status, status])
      assert.ok(!replayed(two) && !original.bytes.equals(two.bytes), `${status} was executed again`)
    }
    requireOne([await raw(200), await raw(200)])
    requireOneWithStatus([await raw(201), await raw(201)], 201)
  })

  await t.test('invalid input, a missing scope or no credential leave no claim', async () => {
    assert.equal((await spend(first, 'never', { name: '' })).status, 422)
    assert.equal((await spend(first, 'never', { name: 'never', unknown: 1 })).status, 422)
    assert.equal((await spend(first, 'never', { name: 'x' }, 'nonsense')).status, 401)
    assert.equal((await first.db.selectFrom('idempotency_claim').select('key').where('key', '=', 'never').execute()).length, 0)
    assert.equal((await spend(first, 'never', { name: 'never' })).status, 200)
  })

  await t.test('many at once while it fails, then succeeds: one effect', async () => {
    levers.crash = true
    const failing = await Promise.all(Array.from({ length: 10 }, (_, index) => spend(index % 2 ? first : second, 'flaky')))
    assert.ok(failing.every(({ status }) => status === 500))
    levers.crash = false
    requireOne(await Promise.all(Array.from({ length: 10 }, (_, index) => spend(index % 2 ? first : second, 'flaky'))))
    assert.equal(await effects('flaky'), 1)
  })
})

function requireOneWithStatus(answers: readonly Answer[], status: number): void {
  assert.deepEqual(
    answers.map((answer) => answer.status),
    answers.map(() => status),
  )
  assert.equal(new Set(answers.map(({ bytes }) => bytes.toString())).size, 1)
}

// Goal: claims live a day by the platform's clock, and a process that dies or freezes neither blocks its claim nor spends twice.
test('row 19: claims expire', async (t) => {
  const { first, second, org, levers, spend, effects } = await twoProcesses(t)
  const advance = (amount: { hours?: number; seconds?: number }) => [first, second].forEach((w) => w.clock.advance(amount))

  await t.test('after 24 hours the key is new, also for another body', async () => {
    const original = await spend(first, 'day')
    await spend(first, 'day-other')
    advance({ hours: 23, seconds: 3_599 })
    assert.ok(replayed(await spend(second, 'day')))
    advance({ seconds: 1 })
    const two = await spend(second, 'day')
    assert.ok(!replayed(two) && two.body.execution !== original.body.execution)
    assert.equal(await effects('day'), 2)
    assert.equal((await spend(first, 'day-other', { name: 'a new body' })).status, 200)
    assert.ok(replayed(await spend(first, 'day')), 'the second answer is kept in its turn')
  })

  await t.test('the sweep only removes expired claims', async () => {
    await spend(first, 'swept')
    advance({ hours: 1 })
    await spend(first, 'kept')
    advance({ hours: 23, seconds: 1 })
    await first.runTask(sweep)
    const rows = await first.db.selectFrom('idempotency_claim').select('key').where('key', 'in', ['swept', 'kept']).execute()
    assert.deepEqual(
      rows.map(({ key }) => key),
      ['kept'],
    )
    assert.ok(replayed(await spend(second, 'kept')))
  })

  await t.test('the claim of a dead process is released when its lease expires', async () => {
    await spend(first, 'died')
    await first.db
      .updateTable('idempotency_claim')
      .set({ state: 'running', response_body: null, response_status: null, response_type: null, lease: newId(), lease_until: new Date(0) })
      .where('key', '=', 'died')
      .execute()
    assert.equal((await spend(second, 'died', { name: 'another body' })).status, 409, 'its body is still remembered')
    const answer = await spend(second, 'died')
    assert.equal(answer.status, 200)
    assert.ok(!replayed(answer))
  })

  await t.test('a process that was frozen beyond its lease can no longer commit', async () => {
    levers.gate = newGate()
    const gate = levers.gate
    const frozen = spend(first, 'frozen')
    await gate.entered()
    levers.gate = null
    await first.db
      .updateTable('idempotency_claim')
      .set({ lease_until: new Date(0) })
      .where('key', '=', 'frozen')
      .execute()
    const taken = await spend(second, 'frozen')
    assert.equal(taken.status, 200)
    gate.open()
    const late = await frozen
    assert.equal(late.status, 409)
    assert.equal(late.body.code, 'idempotency-in-progress')
    assert.equal(late.headers.get('retry-after'), '1')
    assert.equal(await effects('frozen'), 1, 'the effect of the process that held the claim')
    requireOne([taken, await spend(first, 'frozen')])
  })

  await t.test('claims are stored under the canonical path of their organization', async () => {
    const row = await first.db
      .selectFrom('idempotency_claim')
      .select(['owner_id', 'path', 'state'])
      .where('key', '=', 'frozen')
      .executeTakeFirstOrThrow()
    assert.deepEqual(row, { owner_id: org.id, path: '/v1/op/test.spend', state: 'done' })
  })
})
