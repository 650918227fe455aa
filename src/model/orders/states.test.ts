import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { newId } from '#core/ids.ts'
import {
  ORDER_GROUP_STATUSES,
  ORDER_STATUSES,
  ORDER_SUB_STATUSES,
  ORDER_TYPES,
  type OrderGroupStatus,
  type OrderStatus,
  type OrderSubStatus,
  type OrderType,
} from '#core/vocabulary.ts'
import { createCommit } from '#background/change.ts'
import * as groups from './order-group.ts'
import * as orders from './order.ts'
import {
  DELIVERED_STATUSES,
  ENDED_STATUSES,
  FIRST_STATUS,
  GROUP_MOVES,
  OPEN_STATUSES,
  ORDER_MOVES,
  SUB_MOVES,
  subStatusOf,
} from './states.ts'
import { world, type Org, type World } from '../../../test/support/world.ts'

type Moves = Record<string, { from: readonly string[]; to: string }>
const keys = <T extends object>(table: T) => Object.keys(table) as (keyof T)[]

/** All states that can be reached from a state. */
function reachable(moves: Moves, start: string): Set<string> {
  const seen = new Set([start])
  for (const state of seen) for (const { from, to } of Object.values(moves)) if (from.includes(state)) seen.add(to)
  return seen
}

// Goal: every state can be reached, every state except the final ones can be left, and no move leads to a state outside the table.
test('the state tables are complete', () => {
  for (const type of ORDER_TYPES) {
    const moves = Object.fromEntries(
      keys(ORDER_MOVES).flatMap((name) =>
        (ORDER_MOVES[name].of as readonly OrderType[]).includes(type) ? [[name, ORDER_MOVES[name]]] : [],
      ),
    )
    const states = reachable(moves, FIRST_STATUS[type])
    assert.deepEqual([...states].toSorted(), ORDER_STATUSES.filter((status) => status !== 'pending' || type === 'tasking').toSorted(), type)
  }
  for (const status of ORDER_STATUSES) {
    const isLeft = Object.values(ORDER_MOVES).some(({ from }) => (from as readonly string[]).includes(status))
    assert.equal(isLeft, (OPEN_STATUSES as readonly string[]).includes(status), status)
  }
  assert.deepEqual([...reachable(GROUP_MOVES, 'deciding')].toSorted(), ORDER_GROUP_STATUSES.toSorted())
  for (const status of ORDER_GROUP_STATUSES) {
    const isLeft = Object.values(GROUP_MOVES).some(({ from }) => (from as readonly string[]).includes(status))
    assert.equal(isLeft, !(ENDED_STATUSES as readonly string[]).includes(status), status)
  }
  assert.deepEqual([...reachable(SUB_MOVES, 'awaiting_feasibility')].toSorted(), ORDER_SUB_STATUSES.toSorted())
  const at = (...states: (OrderSubStatus | null)[]) => subStatusOf(states.map((subStatus) => ({ subStatus })))
  assert.deepEqual(
    [at(null), at('accepted', 'quotation_ready'), at('accepted', 'rejected'), at('rejected', 'rejected')],
    [null, 'quotation_ready', 'accepted', 'rejected'],
  )
})

// Goal: in the database, each move succeeds once, from exactly the states in the table, and is recorded in history and events.
test('each move from each state', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const commit = createCommit({ ...w.platform, clock: w.clock, committed: async () => {} })

  await t.test('orders', async () => {
    for (const type of ORDER_TYPES)
      for (const status of ORDER_STATUSES)
        for (const name of keys(ORDER_MOVES)) {
          const id = await orderIn(w, org, { type, status })
          const { from, to, of, event } = ORDER_MOVES[name]
          const isAllowed = (from as readonly OrderStatus[]).includes(status) && (of as readonly OrderType[]).includes(type)
          const more = {
            fulfil: { item_ids: [], captured_credits: 0 },
            fail: { reason: null },
            cancel: { released_credits: 0 },
            decide: {},
            accept: {},
          }[name]
          const move = () =>
            commit(org.id, 'test', async (change) => await orders.move(change, await orders.get(change.tx, id), name, { more }))
          const moved = await move()
          assert.equal(moved !== null, isAllowed, `${type} ${status} ${name}`)
          const after = await orders.get(w.db, id)
          assert.equal(after.status, isAllowed ? to : status)
          assert.deepEqual([after.history.length, after.history.at(-1)!.status], isAllowed ? [2, to] : [1, status])
          const events = await w.db.selectFrom('event').select('type').where('entity_id', '=', id).execute()
          assert.deepEqual(
            events.map((event) => event.type),
            isAllowed ? [event] : [],
          )
          if (isAllowed && !(from as readonly string[]).includes(to))
            assert.equal(await move(), null, 'the second time, there is nothing to move')
        }
  })

  await t.test('groups', async () => {
    for (const status of ORDER_GROUP_STATUSES)
      for (const name of keys(GROUP_MOVES)) {
        const id = await groupIn(w, org, { status })
        const { from, to } = GROUP_MOVES[name]
        const isAllowed = (from as readonly OrderGroupStatus[]).includes(status)
        const delivers = (DELIVERED_STATUSES as readonly string[]).includes(to)
        const moved = await groups.move(w.db, id, name, delivers ? { itemIds: ['x'] } : {}, w.clock.now())
        assert.equal(moved, isAllowed, `${status} ${name}`)
        assert.equal((await groups.find(w.db, id))!.status, isAllowed ? to : status)
      }
  })

  await t.test('the sub-status of the negotiation', async () => {
    for (const subStatus of ORDER_SUB_STATUSES)
      for (const name of keys(SUB_MOVES)) {
        const id = await groupIn(w, org, { status: 'deciding', subStatus })
        const { from, to } = SUB_MOVES[name]
        const isAllowed = (from as readonly OrderSubStatus[]).includes(subStatus)
        const moved = await w.db.transaction().execute((tx) => groups.agree(tx, id, name, {}, w.clock.now()))
        assert.equal(moved, isAllowed, `${subStatus} ${name}`)
        assert.equal((await groups.find(w.db, id))!.subStatus, isAllowed ? to : subStatus)
      }
  })
})

/** Inserts rows directly, in states that no operation would leave. */
async function orderIn(w: World, org: Org, { type, status }: { type: OrderType; status: OrderStatus }): Promise<string> {
  const [id, now] = [newId(), w.clock.now()]
  const history = JSON.stringify([{ timestamp: now.toISOString(), status, reason: null }])
  await sql`insert into imagery_order (id, org_id, project_id, order_type, status, sub_status, billing_mode, display_name,
      license_type, tags, estimated_credits, simulated, history, next_poll_at, created_at, updated_at, fulfilled_at, cancelled_at)
    values (${id}, ${org.id}, ${org.projectId}, ${type}, ${status}, ${type === 'tasking' ? 'accepted' : null}, 'credit', 'x',
      'standard', '{}', 0, true, ${history}, ${now}, ${now}, ${now},
      ${status === 'fulfilled' ? now : null}, ${status === 'cancelled' ? now : null})`.execute(w.db)
  return id
}

async function groupIn(
  w: World,
  org: Org,
  { status, subStatus = null }: { status: OrderGroupStatus; subStatus?: OrderSubStatus | null },
): Promise<string> {
  const orderId = await orderIn(w, org, { type: 'archive', status: 'processing' })
  const [id, now] = [newId(), w.clock.now()]
  const items = (DELIVERED_STATUSES as readonly string[]).includes(status) ? ['x'] : []
  await sql`insert into order_group (id, order_id, org_id, ordinal, host_name, product_id, product_name, status, sub_status, steps,
      captures, params, area, area_km2, credits, reserved_credits, item_ids, updated_at)
    values (${id}, ${orderId}, ${org.id}, 0, 'x', 'x', 'x', ${status}, ${subStatus}, '{}', '[]', '{}', '{}', 1, 0, 0, ${items},
      ${now})`.execute(w.db)
  return id
}
