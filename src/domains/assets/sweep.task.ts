import Type from 'typebox'
import { DAY_MS } from '#core/time.ts'
import { Closed } from '#core/shapes.ts'
import { task, type TaskContext } from '#task.ts'
import * as orphans from '#model/imagery/orphan.ts'
import { installationId } from '#model/platform/installation.ts'
import { isOwnStore } from '#services/store/owner.ts'

/** Of one run: a store of any size is listed in the same time, and a larger one takes more runs. */
const MAX_PAGES = 2_000

/**
 * Removes unreferenced objects: those whose last asset was deleted, uploads that arrived after their session ended, and
 * leftovers of writers that were killed. It goes through all buckets in rounds, a slice at each run, and only in the store of this
 * installation: to a restored copy, whatever the original has stored since would be unreferenced.
 */
export default task({
  name: 'assets.sweep',
  data: Closed({ max_pages: Type.Optional(Type.Integer({ minimum: 1 })) }),
  schedule: '23 * * * *',
  timeoutSeconds: 3_600,
}).handle(async (context, { max_pages = MAX_PAGES }) => {
  const { db, clock, storage, raster, operatorLog, signal } = context
  const now = clock.now()
  await raster.sweep(new Date(now.getTime() - DAY_MS))
  if (!(await isOwnStore(storage, await installationId(db)))) {
    operatorLog.warn('The object store belongs to another installation, so unreferenced files are not removed; see `groundtrack store`')
    return
  }
  await storage.sweep(signal)
  await sweepSlice(context, now, max_pages)
})

type SweepContext = Pick<TaskContext, 'db' | 'storage' | 'signal'>

/** Continues the round behind its last page, and ends it behind the last bucket. */
async function sweepSlice(context: SweepContext, now: Date, maxPages: number): Promise<void> {
  const { db } = context
  const round = await orphans.currentRound(db, now)
  let { bucket, key } = round
  for (let pages = 0; pages < maxPages; pages++) {
    if (key === null) {
      const [next] = await orphans.buckets(db, bucket, 1)
      if (next === undefined) return await orphans.endRound(db, now)
      bucket = next
    }
    key = await sweepPage(context, bucket, key, now)
    if (key === null) await orphans.forgetOthers(db, bucket, round.beganAt)
    await orphans.advance(db, { bucket, key })
  }
}

/** Returns where the next page begins; null behind the last one of the bucket. */
async function sweepPage({ db, storage, signal }: SweepContext, bucket: string, cursor: string | null, now: Date): Promise<string | null> {
  signal.throwIfAborted()
  const { objects, next } = await storage.list(bucket, { cursor, signal })
  const keys = objects.map(({ key }) => key)
  for (const key of keys.length > 0 ? await orphans.note(db, bucket, keys, now) : []) {
    await storage.remove({ bucket, key })
    await orphans.forget(db, bucket, key)
  }
  return next
}
