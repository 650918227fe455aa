import { DAY_MS } from '#core/time.ts'
import { Closed } from '#core/shapes.ts'
import { task, type TaskContext } from '#task.ts'
import * as orphans from '#model/imagery/orphan.ts'

const BUCKETS_PER_PAGE = 100

/**
 * Removes unreferenced objects: those whose last asset was deleted, uploads that arrived after their session ended, and
 * leftovers of writers that were killed.
 */
export default task({ name: 'assets.sweep', data: Closed({}), schedule: '23 * * * *', timeoutSeconds: 3_600 }).handle(
  async ({ db, clock, storage, raster, signal }) => {
    const startedAt = clock.now()
    await storage.sweep(signal)
    await raster.sweep(new Date(startedAt.getTime() - DAY_MS))
    let last = ''
    for (;;) {
      const buckets = await orphans.buckets(db, last, BUCKETS_PER_PAGE)
      for (const bucket of buckets) await sweepBucket({ db, storage, signal }, bucket, startedAt)
      if (buckets.length < BUCKETS_PER_PAGE) return
      last = buckets.at(-1)!
    }
  },
)

type SweepContext = Pick<TaskContext, 'db' | 'storage' | 'signal'>

async function sweepBucket({ db, storage, signal }: SweepContext, bucket: string, startedAt: Date): Promise<void> {
  let cursor: string | null = null
  do {
    signal.throwIfAborted()
    const page = await storage.list(bucket, { cursor, signal })
    const due =
      page.objects.length > 0
        ? await orphans.note(
            db,
            bucket,
            page.objects.map(({ key }) => key),
            startedAt,
          )
        : []
    for (const key of due) {
      await storage.remove({ bucket, key })
      await orphans.forget(db, bucket, key)
    }
    cursor = page.next
  } while (cursor !== null)
  await orphans.forgetOthers(db, bucket, startedAt)
}
