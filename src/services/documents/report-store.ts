/** Where reports and what methods compute are kept: a week, by the day they were made. */
import type { Context } from '#operation.ts'
import type { ObjectRef, Storage } from '#ports/storage.ts'
import { DAY_MS } from '#core/time.ts'

const REPORT_BUCKET = 'reports'
const REPORT_DAYS = 7
/** Addresses hold as long as what they lead to, which is also as long as any store signs one. */
export const REPORT_SECONDS = REPORT_DAYS * 24 * 3_600

interface NewReport {
  organizationId: string
  reportId: string
  ending: string
  contentType: string
  body: Uint8Array
  fileName?: string
}

/** The bytes are written before anything speaks of them; what is never spoken of is swept with the rest. */
export async function keepReport(
  { storage, clock, signal }: Pick<Context, 'storage' | 'clock' | 'signal'>,
  { organizationId, reportId, ending, contentType, body, fileName }: NewReport,
): Promise<{ at: ObjectRef; url: string }> {
  const at = { bucket: REPORT_BUCKET, key: `${dayOf(clock.now())}/${organizationId}/${reportId}.${ending}` }
  await storage.createBucket(REPORT_BUCKET)
  await storage.put(at, body, { contentType, signal })
  const url = await storage.signGet({
    ...at,
    fileName: fileName ?? `${reportId}.${ending}`,
    contentType,
    countFor: organizationId,
    expiresInSeconds: REPORT_SECONDS,
  })
  return { at, url }
}

const dayOf = (at: Date): string => at.toISOString().slice(0, 10)
/** More than these wait for the next night. */
const MAX_SWEPT = 10_000

/** Removes what has outlived its addresses; gives how many objects that were. */
export async function sweepReports(storage: Storage, now: Date, signal?: AbortSignal): Promise<number> {
  const keptFrom = dayOf(new Date(now.getTime() - (REPORT_DAYS + 1) * DAY_MS))
  await storage.createBucket(REPORT_BUCKET)
  let removed = 0
  let cursor: string | null = null
  do {
    const page = await storage.list(REPORT_BUCKET, { cursor, ...(signal ? { signal } : {}) })
    for (const { key } of page.objects) {
      // Keys begin with their day, so the first that is kept is followed by none that is not.
      if (key.slice(0, 10) >= keptFrom || removed >= MAX_SWEPT) return removed
      await storage.remove({ bucket: REPORT_BUCKET, key })
      removed += 1
    }
    cursor = page.next
  } while (cursor !== null)
  return removed
}
