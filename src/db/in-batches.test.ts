// Goal: a sweep removes everything that is due, in statements of limited size, and ends even if there is always more.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { world } from '../../test/support/world.ts'
import { deleteInBatches, inBatches } from './in-batches.ts'

test('rows are deleted in batches, and others stay', async (t) => {
  const { db } = await world(t)
  await sql`
    insert into rate_window (subject, started_at, used)
    select 'test ' || n, case when n <= 11000 then timestamptz '2030-01-01' else timestamptz '2030-02-01' end, 1
    from generate_series(1, 11010) n
  `.execute(db)
  const where = sql<boolean>`started_at < '2030-01-15' and starts_with(subject, 'test ')`
  assert.equal(await deleteInBatches(db, { table: 'rate_window', key: ['subject'], where }), 11_000)
  const { rows } = await sql<{ left: number }>`select count(*)::int as left from rate_window where starts_with(subject, 'test ')`.execute(
    db,
  )
  assert.equal(rows[0]!.left, 10)
})

test('the number of statements is limited', async () => {
  const limits: number[] = []
  const endless = async (limit: number) => {
    limits.push(limit)
    return limit
  }
  assert.equal(await inBatches(endless, 10), 4_000)
  assert.equal(limits.length, 400)
  const amounts = [10, 10, 3]
  assert.equal(await inBatches(async () => amounts.shift()!, 10), 23, 'a batch that is not full is the last one')
})
