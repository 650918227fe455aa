import { DAY_MS } from '#core/time.ts'
import { Closed } from '#core/shapes.ts'
import { task, type TaskContext } from '#task.ts'
import * as orphans from '#model/imagery/orphan.ts'

const BUCKETS_AT_ONCE = 100

/**
 * Removes what nothing points at any more: objects whose last asset is gone, uploads that came after their session had
 * ended, and the rests of writers that were killed.
 */
export default task({ name: 'assets.sweep', data: Closed({}), schedule: '23 * * * *', timeoutSeconds: 3_600 }).handle(
  async ({ db, clock, storage, raster, signal }) => {
    const round = clock.now()
    await storage.sweep(signal)
    await raster.sweep(new Date(round.getTime() - DAY_MS))
    let last = ''
    for (;;) {
      const buckets = await orphans.buckets(db, last, BUCKETS_AT_ONCE)
      for (const bucket of buckets) await sweepBucket({ db, storage, signal }, bucket, round)
      if (buckets.length < BUCKETS_AT_ONCE) return
      last = buckets.at(-1)!
    }
  },
)

type Means = Pick<TaskContext, 'db' | 'storage' | 'signal'>

async function sweepBucket({ db, storage, signal }: Means, bucket: string, round: Date): Promise<void> {
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
            round,
          )
        : []
    for (const key of due) {
      await storage.remove({ bucket, key })
      await orphans.forget(db, bucket, key)
    }
    cursor = page.next
  } while (cursor !== null)
  await orphans.forgetOthers(db, bucket, round)
}
