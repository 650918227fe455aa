import type { Clock } from '#core/clock.ts'
import { createFlusher } from '#core/flusher.ts'
import type { Db } from '#db/tables.ts'
import * as itemAccess from '#model/imagery/item-access.ts'
import * as usage from '#model/plans/usage.ts'
import type { Usage } from '#effects.ts'

/**
 * Usage meters and item accesses, buffered in memory and written in batches. A process that is killed loses at most one interval
 * of tiles and calls; what a limit depends on is counted in its own transaction instead.
 */
export interface UsageRecorder extends Usage {
  flush(): Promise<void>
  close(): Promise<void>
}

const FLUSH_AFTER_MS = 1_000
/** Beyond this an access is not recorded until the item is used again, so that memory stays bounded while the database is unreachable. */
const MAX_ACCESSES = 50_000

export function createUsageRecorder(db: Db, clock: Clock, onError: (error: unknown) => void): UsageRecorder {
  let readings = new Map<string, usage.Reading>()
  let accesses = new Map<number, Date>()
  const written = itemAccess.createMemory()

  const add = (reading: usage.Reading): void => {
    const key = usage.keyOf(reading)
    const known = readings.get(key)
    if (known) known.amount += reading.amount
    else readings.set(key, { ...reading })
  }
  const drain = async (): Promise<void> => {
    const counted = [...readings.values()]
    readings = new Map()
    await usage.add(db, counted).catch((error: unknown) => {
      counted.forEach(add)
      throw error
    }) // Counted by the next flush.
    const touched = accesses
    accesses = new Map()
    written.remember(
      await itemAccess.write(db, touched).catch((error: unknown) => {
        accesses = new Map([...touched, ...accesses])
        throw error
      }),
    )
  }
  const isEmpty = () => readings.size === 0 && accesses.size === 0
  const flusher = createFlusher({ drain, isEmpty, afterMs: FLUSH_AFTER_MS, onError })

  return {
    record(organizationId, meter, amount = 1) {
      add({ organizationId, day: usage.dayOf(clock.now()), meter, amount })
      flusher.arm()
    },
    touch(itemSeq) {
      const now = clock.now()
      if (accesses.size >= MAX_ACCESSES || written.isRecent(itemSeq, now)) return
      accesses.set(itemSeq, now)
      flusher.arm()
    },
    flush: flusher.flushAll,
    close: flusher.close,
  }
}
