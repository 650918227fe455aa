import Type from 'typebox'
import { DAY_MS, HOUR_MS } from '#core/time.ts'
import { Closed } from '#core/shapes.ts'
import * as accessLogs from '#model/plans/access-log.ts'
import * as downloadQuotas from '#model/plans/download-quota.ts'
import type { AccessLogs } from '#ports/storage.ts'
import { task, type TaskContext } from '#task.ts'

/** Of one run; the next one continues. S3 delivers a few logs a minute at most. */
const MAX_LOGS = 2_000
const PAGE_SIZE = 500
/** A log can be delivered after one with a later name, but not by this much. */
const LOOK_BACK_MS = DAY_MS

/** Counts downloads from the access logs of the object store, if it writes them: each log once, the oldest first. */
export default task({
  name: 'usage.count_downloads',
  data: Closed({ max_logs: Type.Optional(Type.Integer({ minimum: 1 })) }),
  schedule: '*/15 * * * *',
  timeoutSeconds: 3_600,
}).handle(async (context, { max_logs = MAX_LOGS }) => {
  const { db, clock, storage, signal } = context
  const logs = storage.accessLogs
  if (!logs) return
  const last = await accessLogs.last(db, logs.prefix)
  const since = (last === null ? null : logs.timeOf(last)) ?? clock.now()
  const start = logs.nameAt(new Date(since.getTime() - LOOK_BACK_MS))
  let left = max_logs
  for (let after = start; left > 0;) {
    const names = await logs.list(after, PAGE_SIZE, signal)
    for (const name of await accessLogs.uncounted(db, names)) {
      if (logs.timeOf(name) === null) continue
      if (left-- === 0) return
      await countLog(context, logs, name)
    }
    if (names.length < PAGE_SIZE) break
    after = names.at(-1)!
  }
  await accessLogs.forgetBefore(db, logs.prefix, start)
})

/** Downloads of an organization within one hour count together, as of the last of them. */
interface Total {
  organizationId: string
  bytes: number
  at: Date
}

async function countLog({ db, clock, signal }: TaskContext, logs: AccessLogs, name: string): Promise<void> {
  const totals = new Map<string, Total>()
  let downloads = 0
  for await (const { organizationId, at, bytes } of logs.downloads(name, signal)) {
    const key = `${organizationId} ${Math.floor(at.getTime() / HOUR_MS)}`
    const known = totals.get(key)
    totals.set(key, { organizationId, bytes: (known?.bytes ?? 0) + bytes, at: known && known.at > at ? known.at : at })
    downloads++
  }
  const found = [...totals.values()].toSorted((a, b) => (a.organizationId < b.organizationId ? -1 : 1))
  const bytes = found.reduce((sum, total) => sum + total.bytes, 0)
  await db.transaction().execute(async (tx) => {
    if (!(await accessLogs.claim(tx, { name, downloads, bytes }, clock.now()))) return
    for (const total of found) await downloadQuotas.count(tx, total.organizationId, total.bytes, total.at)
  })
}
