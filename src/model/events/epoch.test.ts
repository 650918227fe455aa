// Goal: after a restore into a cluster whose transaction IDs are lower, streams show the restored events, and new ones follow them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { until } from '../../../test/support/service.ts'
import { world } from '../../../test/support/world.ts'
import { beginEpoch } from './epoch.ts'
import * as stream from './stream.ts'

const AHEAD = '900000000000'

test('events of a restored database', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const start = { txid: '0', seq: 0 }
  const seen = async (position: stream.Position) =>
    (await stream.after(w.db, [{ organizationId: org.id, position }], 100)).map(({ type, entityId }) => `${type} ${entityId}`)
  // Events of a transaction are visible once every older transaction of the server has ended, those of other tests' databases too.
  const add = async (name: string) => {
    const { id } = await w.ok(org.owner.token, 'projects.create', { name })
    return await until(`the events of ${name}`, async () => {
      const events = await seen(start)
      return events.some((event) => event.endsWith(id)) && { id, events }
    })
  }

  const { events: before } = await add('before')
  assert.equal(await beginEpoch(w.db, w.clock.now()), false, 'nothing was restored')

  await t.test('are not visible while their transactions seem to lie ahead', async () => {
    await sql`
      insert into event (id, org_id, type, entity_type, entity_id, data, invocation_id, occurred_at, txid)
      select gen_random_uuid(), org_id, type, entity_type, gen_random_uuid(), data, invocation_id, occurred_at, ${AHEAD}::xid8
      from event where org_id = ${org.id} order by seq desc limit 1
    `.execute(w.db)
    assert.deepEqual(await seen(start), before)
  })

  await t.test('are visible in a new epoch, once, in order, before all new ones', async () => {
    assert.equal(await beginEpoch(w.db, w.clock.now()), true)
    assert.equal(await beginEpoch(w.db, w.clock.now()), false)
    const restored = await seen(start)
    assert.equal(restored.length, before.length + 1)
    assert.deepEqual(restored.slice(0, -1), before)
    const { head } = await stream.now(w.db)
    assert.ok(stream.isBefore({ txid: AHEAD, seq: Number.MAX_SAFE_INTEGER }, head))
    const { id, events: all } = await add('after')
    assert.deepEqual(all.slice(0, restored.length), restored)
    assert.ok(all.slice(restored.length).some((event) => event.endsWith(id)))
    assert.deepEqual(await seen(head), all.slice(restored.length))
  })

  await t.test('another identifier of the cluster begins an epoch too, even if its transactions are ahead', async () => {
    await sql`update event_epoch set system_identifier = 'another' where epoch = 2`.execute(w.db)
    const all = await seen(start)
    assert.equal(await beginEpoch(w.db, w.clock.now()), true)
    assert.deepEqual(await seen(start), all)
  })
})
