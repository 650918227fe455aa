import { Closed } from '#core/shapes.ts'
import { task, type TaskContext } from '#task.ts'
import { installationId } from '#model/platform/installation.ts'
import { generationAt, generationOf, TILE_BUCKET } from '#ports/tile-cache.ts'
import { isOwnStore } from '#services/store/owner.ts'

type SweepContext = Pick<TaskContext, 'storage' | 'signal'>

/**
 * Keeps the tile cache in the object store within its bounds: removes tiles that nobody has requested for long, and if there are too many,
 * those of the older generation first. Without such a cache it removes all that is left of one.
 */
export default task({
  name: 'assets.sweep_tiles',
  data: Closed({}),
  schedule: '*/10 * * * *',
  timeoutSeconds: 3_600,
}).handle(async (context) => {
  const { db, clock, storage, tileCache } = context
  const { objects } = await storage.list(TILE_BUCKET, { limit: 1 })
  if (objects.length === 0 || !(await isOwnStore(storage, await installationId(db)))) return
  const oldest = tileCache ? generationAt(tileCache, clock.now()) - 1 : Infinity
  const bytes = await removeTiles(context, (generation) => generation < oldest)
  let excess = bytes - (tileCache?.maxBytes ?? 0)
  for (let generation = oldest; excess > 0 && generation <= oldest + 1; generation++)
    await removeTiles(context, (of, size) => {
      const isRemoved = of === generation && excess > 0
      if (isRemoved) excess -= size
      return isRemoved
    })
})

/** Returns the size of the tiles that stay. */
async function removeTiles({ storage, signal }: SweepContext, isRemoved: (generation: number, size: number) => boolean): Promise<number> {
  let left = 0
  let cursor: string | null = null
  do {
    signal.throwIfAborted()
    const page = await storage.list(TILE_BUCKET, { cursor, signal })
    for (const { key, size } of page.objects)
      if (isRemoved(generationOf(key) ?? -1, size)) await storage.remove({ bucket: TILE_BUCKET, key })
      else left += size
    cursor = page.next
  } while (cursor !== null)
  return left
}
