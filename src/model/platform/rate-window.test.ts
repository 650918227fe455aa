// Goal: a rate limit lasts no longer than its window, even if a process whose clock is ahead started it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { world } from '../../../test/support/world.ts'
import { countAll, take } from './rate-window.ts'

test('windows that begin in the future', async (t) => {
  const w = await world(t)
  const now = new Date()
  const windows = async () =>
    (
      await sql<{ subject: string; used: number; isPast: boolean }>`
        select subject, used::int as used, started_at <= clock_timestamp() as "isPast" from rate_window where starts_with(subject, 'clock:')
        order by subject`.execute(w.db)
    ).rows
  const begin = async (startedAt: Date) => {
    await sql`delete from rate_window where starts_with(subject, 'clock:')`.execute(w.db)
    await sql`insert into rate_window (subject, started_at, used)
      values ('clock:a', ${startedAt}, 7), ('clock:b', ${startedAt}, 7)`.execute(w.db)
  }
  const count = async (at: Date) => {
    const [counted] = await countAll(w.db, [{ subject: 'clock:a', windowSeconds: 3_600 }], at)
    const [taken] = await take(w.db, [{ subject: 'clock:b', windowSeconds: 3_600, limit: 100, canLease: false }], at)
    return [counted!.ordinal, taken!.ordinal]
  }
  const later = (minutes: number) => new Date(now.getTime() + minutes * 60_000)

  await t.test('begin now as soon as somebody notices, and keep their count', async () => {
    await begin(later(60))
    assert.deepEqual(await count(now), [8, 8])
    assert.deepEqual(await windows(), [
      { subject: 'clock:a', used: 8, isPast: true },
      { subject: 'clock:b', used: 8, isPast: true },
    ])
  })

  await t.test('stay as they are if it is the clock of this process that is behind', async () => {
    await begin(later(-30))
    assert.deepEqual(await count(later(-60)), [8, 8])
    const { rows } = await sql<{ n: number }>`select count(*)::int as n from rate_window where starts_with(subject, 'clock:')
      and started_at = ${later(-30)}`.execute(w.db)
    assert.equal(rows[0]!.n, 2)
  })
})
