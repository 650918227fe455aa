import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import fc from 'fast-check'
import * as idempotencyKeys from '../../packages/console/src/parts/orders/idempotency-keys.ts'
import { archiveSteps } from '../../packages/console/src/screens/orders/archive-steps.ts'
import { isCancellable, isOver, orderStatus, groupStatus, waitsForDecision } from '../../packages/console/src/state/order-states.ts'

type Progress = Parameters<typeof archiveSteps>[0]
type Status = Progress['status']

const STATUSES: readonly Status[] = ['pending', 'processing', 'awaiting_data', 'fulfilled', 'failed', 'cancelled']
const AT = '2026-11-16T10:00:00Z'

// Goal: every state of an order has words, and what can be done follows from the state.
test('every state of an order and of a group has words', () => {
  for (const status of STATUSES) assert.notEqual(orderStatus({ status, subStatus: null }).text, '')
  assert.equal(orderStatus({ status: 'pending', subStatus: 'quotation_ready' }).text, 'Decision needed')
  assert.equal(
    orderStatus({ status: 'fulfilled', subStatus: 'quotation_ready' }).text,
    orderStatus({ status: 'fulfilled', subStatus: null }).text,
  )
  assert.equal(groupStatus({ status: 'deciding', subStatus: 'feasibility_ready' }).text, 'Decision needed')
  assert.equal(groupStatus({ status: 'delivered', subStatus: null }).tone, 'ok')
})

test('an order that is over cannot be cancelled and waits for nobody', () => {
  for (const status of STATUSES) {
    assert.ok(!(isOver({ status }) && isCancellable({ status })), status)
    assert.equal(waitsForDecision({ status, subStatus: 'feasibility_ready' }), status === 'pending')
  }
})

// Goal: the steps of an order go from left to right: those that are done, at most one that is current, then those to come.
const progress: fc.Arbitrary<Progress> = fc
  .record({
    status: fc.constantFrom(...STATUSES),
    reached: fc.subarray(STATUSES.filter((status) => status !== 'fulfilled')),
    delivered: fc.integer({ min: 0, max: 3 }),
    groups: fc.integer({ min: 3, max: 5 }),
  })
  .map(({ status, reached, delivered, groups }) => ({
    status,
    history: [...reached, status].map((step) => ({ status: step, timestamp: AT })),
    groups: Array.from({ length: groups }, (_, index) => ({ itemIds: index < delivered ? ['item'] : [] })),
    fulfilledAt: status === 'fulfilled' ? AT : null,
  })) as unknown as fc.Arbitrary<Progress>

test('steps are done, then current, then to come', () => {
  fc.assert(
    fc.property(progress, (order) => {
      const states = archiveSteps(order).map(({ state }) => state)
      const hasStopped = order.status === 'failed' || order.status === 'cancelled'
      assert.equal(states.length, 4)
      assert.equal(states.filter((state) => state === 'now').length, order.status === 'fulfilled' ? 0 : 1)
      // An order that stopped ends with the step that says so.
      const before = hasStopped ? states.slice(0, -1) : states
      const lastDone = before.lastIndexOf('done')
      assert.ok(
        before.slice(0, lastDone).every((state) => state === 'done'),
        states.join(),
      )
      if (hasStopped) assert.equal(states.at(-1), 'now')
    }),
  )
})

test('steps say when and how much', () => {
  const order = { status: 'awaiting_data', fulfilledAt: null } as const
  const history = [
    { status: 'processing', timestamp: AT },
    { status: 'awaiting_data', timestamp: '2026-11-16T10:05:00Z' },
  ]
  const groups = [{ itemIds: ['item'] }, { itemIds: [] }]
  assert.deepEqual(archiveSteps({ ...order, history, groups } as unknown as Progress), [
    { text: 'Placed', when: '16 Nov, 10:00', state: 'done' },
    { text: 'Accepted by vendor', when: '16 Nov, 10:05', state: 'done' },
    { text: 'Data arriving', when: '1 of 2', state: 'now' },
    { text: 'Delivered', when: '', state: '' },
  ])
})

function withSessionStorage(t: TestContext): Map<string, string> {
  const stored = new Map<string, string>()
  const storage = {
    getItem: (name: string) => stored.get(name) ?? null,
    setItem: (name: string, text: string) => void stored.set(name, text),
    removeItem: (name: string) => void stored.delete(name),
  }
  Object.defineProperty(globalThis, 'sessionStorage', { value: storage, configurable: true })
  t.after(() => Reflect.deleteProperty(globalThis, 'sessionStorage'))
  return stored
}

// Goal: one purchase has one idempotency key, however often it is attempted; another purchase has another.
test('a purchase keeps its key until it is made', (t) => {
  withSessionStorage(t)
  const key = idempotencyKeys.keyFor('orders.archive.place', '{"a":1}')
  assert.equal(idempotencyKeys.keyFor('orders.archive.place', '{"a":1}'), key)
  assert.notEqual(idempotencyKeys.keyFor('processing.execute', '{"a":1}'), key, 'another operation')
  assert.equal(idempotencyKeys.keyFor('orders.archive.place', '{"a":1}'), key, 'and the first keeps its own')
  idempotencyKeys.remove('orders.archive.place')
  assert.notEqual(idempotencyKeys.keyFor('orders.archive.place', '{"a":1}'), key, 'the same again is a second purchase')
})

test('a changed order, or a declined payment, has a new key', (t) => {
  withSessionStorage(t)
  const key = idempotencyKeys.keyFor('orders.archive.place', '{"a":1}')
  const changed = idempotencyKeys.keyFor('orders.archive.place', '{"a":2}')
  assert.notEqual(changed, key)
  const afterDecline = idempotencyKeys.create('orders.archive.place', '{"a":2}')
  assert.notEqual(afterDecline, changed)
  assert.equal(idempotencyKeys.keyFor('orders.archive.place', '{"a":2}'), afterDecline)
})

test('keys never repeat, whatever is stored', (t) => {
  const stored = withSessionStorage(t)
  fc.assert(
    fc.property(fc.string(), fc.string(), (input, other) => {
      const key = idempotencyKeys.keyFor('orders.archive.place', input)
      assert.match(key, /^[\da-f-]{36}$/)
      assert.equal(idempotencyKeys.keyFor('orders.archive.place', other) === key, other === input)
    }),
  )
  stored.set('gt-key-orders.archive.place', '{')
  assert.match(idempotencyKeys.keyFor('orders.archive.place', '{}'), /^[\da-f-]{36}$/)
})
