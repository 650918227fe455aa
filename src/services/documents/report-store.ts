/** Stores reports and results of analytics methods for a week, under the day they were created. */
import type { Context } from '#operation.ts'
import * as expiringFiles from '#model/plans/expiring-file.ts'
import type { ObjectRef } from '#ports/storage.ts'
import { newId } from '#core/ids.ts'
import { DAY_MS } from '#core/time.ts'

const REPORT_BUCKET = 'reports'
const REPORT_DAYS = 7
/** Download URLs are valid as long as the files exist; a week is also the longest that object stores sign for. */
export const REPORT_SECONDS = REPORT_DAYS * 24 * 3_600

interface NewReport {
  organizationId: string
  reportId: string
  ending: string
  contentType: string
  body: Uint8Array
  fileName?: string
  /** Style of a raster that has tiles. */
  style?: expiringFiles.RasterStyle
}

/**
 * Counts the bytes against the storage quota (402 if they do not fit), then writes them. If the caller fails afterwards, the
 * sweep removes the file.
 */
export async function keepReport(
  { db, storage, clock, signal }: Pick<Context, 'db' | 'storage' | 'clock' | 'signal'>,
  { organizationId, reportId, ending, contentType, body, fileName, style }: NewReport,
): Promise<{ id: string; at: ObjectRef; url: string }> {
  const now = clock.now()
  const id = newId()
  const at = { bucket: REPORT_BUCKET, key: `${dayOf(now)}/${organizationId}/${reportId}.${ending}` }
  const file = {
    id,
    organizationId,
    bucket: at.bucket,
    objectKey: at.key,
    sizeBytes: body.byteLength,
    style: style ?? null,
    expiresAt: new Date(now.getTime() + REPORT_SECONDS * 1_000),
  }
  await db.transaction().execute((tx) => expiringFiles.insert(tx, file, now))
  await storage.createBucket(REPORT_BUCKET)
  await storage.put(at, body, { contentType, signal })
  const url = await storage.signGet({
    ...at,
    fileName: fileName ?? `${reportId}.${ending}`,
    contentType,
    countFor: organizationId,
    expiresInSeconds: REPORT_SECONDS,
  })
  return { id, at, url }
}

const dayOf = (at: Date): string => at.toISOString().slice(0, 10)
/** Objects per run; the rest waits for the next night. */
const MAX_SWEPT = 10_000

/** Removes expired files and releases their storage; returns the number of objects. */
export async function sweepReports({ db, storage, clock, signal }: Pick<Context, 'db' | 'storage' | 'clock' | 'signal'>): Promise<number> {
  const now = clock.now()
  const keptFrom = dayOf(new Date(now.getTime() - (REPORT_DAYS + 1) * DAY_MS))
  await storage.createBucket(REPORT_BUCKET)
  let removed = 0
  for (const file of await expiringFiles.expired(db, new Date(now.getTime() - DAY_MS), MAX_SWEPT)) {
    await storage.remove({ bucket: file.bucket, key: file.objectKey })
    await db.transaction().execute((tx) => expiringFiles.remove(tx, file))
    removed += 1
  }
  let cursor: string | null = null
  do {
    const page = await storage.list(REPORT_BUCKET, { cursor, signal })
    for (const { key } of page.objects) {
      // Keys start with their day and are listed in order, so the first one to keep ends the sweep.
      if (key.slice(0, 10) >= keptFrom || removed >= MAX_SWEPT) return removed
      await storage.remove({ bucket: REPORT_BUCKET, key })
      removed += 1
    }
    cursor = page.next
  } while (cursor !== null)
  return removed
}
