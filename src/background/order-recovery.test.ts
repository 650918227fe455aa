// Goal: the orders of a process that was killed continue within seconds, each poll is queued once, and workers that are merely behind
// get no further work.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { grant, placeArchive } from '../../test/orders/support.ts'
import { world } from '../../test/support/world.ts'
import { createOrderRecovery } from './order-recovery.ts'

test('orders of a dead process', async (t) => {
  const w = await world(t, { vendors: true })
  const { db, clock } = w
  const org = await w.organization()
  await grant(w, org, 1_000_000)
  const response = await placeArchive(w, org)
  assert.equal(response.status, 200, response.bytes.toString())
  const { id } = response.body as { id: string }
  let commits = 0
  const committed = async () => void commits++
  const recovery = createOrderRecovery({ db, clock, tasks: w.platform.tasks, committed })
  const polls = async () => {
    const { rows } = await sql<{ id: string }>`select data->>'order_id' as id from queue.job where name = 'orders.poll'`.execute(db)
    return rows.map((row) => row.id)
  }
  const lose = async () => await sql`delete from queue.job`.execute(db)
  /** The next poll is far away, and a run of the group has reported just now. */
  const setGroup = async (status: 'waiting' | 'delivering', times: { heartbeatAt?: Date; placingUntil?: Date }) => {
    const later = new Date(clock.now().getTime() + 600_000)
    await sql`update imagery_order set next_poll_at = ${later} where id = ${id}`.execute(db)
    await sql`
      update order_group set status = ${status}, updated_at = ${clock.now()}, heartbeat_at = ${times.heartbeatAt ?? null},
        placing_until = ${times.placingUntil ?? null}
      where order_id = ${id}
    `.execute(db)
  }

  await t.test('a poll that was lost is queued again, once', async () => {
    await lose()
    await recovery.step()
    assert.deepEqual([await polls(), commits], [[], 0], 'it is not late yet')
    clock.advance({ seconds: 8 })
    await recovery.step()
    assert.deepEqual([await polls(), commits], [[id], 1])
    await recovery.step()
    assert.deepEqual([await polls(), commits], [[id], 1])
  })

  await t.test('a delivery without a heartbeat is found, however late the next poll would be', async () => {
    await lose()
    await setGroup('delivering', { heartbeatAt: clock.now() })
    clock.advance({ seconds: 7 })
    await recovery.step()
    assert.deepEqual(await polls(), [], 'a run with a recent heartbeat is alive')
    clock.advance({ seconds: 1 })
    await recovery.step()
    assert.deepEqual(await polls(), [id])
  })

  await t.test('a placement is left to its run until its claim ends', async () => {
    await lose()
    await setGroup('waiting', { placingUntil: new Date(clock.now().getTime() + 30_000) })
    clock.advance({ seconds: 29 })
    await recovery.step()
    assert.deepEqual(await polls(), [])
    clock.advance({ seconds: 1 })
    await recovery.step()
    assert.deepEqual(await polls(), [id])
  })

  await t.test('a retry that is scheduled is not lost', async () => {
    await lose()
    await setGroup('waiting', { heartbeatAt: new Date(clock.now().getTime() + 300_000) })
    clock.advance({ seconds: 299 })
    await recovery.step()
    assert.deepEqual(await polls(), [])
  })

  await t.test('while tasks wait in the queue, nothing is lost but time', async () => {
    await setGroup('delivering', { heartbeatAt: clock.now() })
    await recovery.step()
    clock.advance({ seconds: 60 })
    await recovery.step()
    assert.deepEqual(await polls(), [id])
    await sql`update queue.job set start_after = now() - interval '10 seconds' where name = 'orders.poll'`.execute(db)
    clock.advance({ seconds: 60 })
    await recovery.step()
    assert.deepEqual(await polls(), [id])
  })

  await t.test('orders that have ended are left alone', async () => {
    await lose()
    await sql`update imagery_order set status = 'cancelled', cancelled_at = ${clock.now()} where id = ${id}`.execute(db)
    clock.advance({ minutes: 5 })
    await recovery.step()
    assert.deepEqual(await polls(), [])
  })
})
