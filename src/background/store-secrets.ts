/** The secrets that sign URLs of the embedded object store, as all processes on the database share them. */
import { startLoop } from './loop.ts'
import type { Clock } from '#core/clock.ts'
import type { Db } from '#db/tables.ts'
import { MAX_SIGNED_SECONDS } from '#ports/storage.ts'
import { rotatedSecretOf, type RotatedSecret } from '#model/platform/secret.ts'

export const STORE_SECRET = 'storage'
/** Until then, processes may sign with the secret that was replaced. */
const SLOWEST_REFRESH_SECONDS = 3_600
const ACCEPT_PREVIOUS_SECONDS = MAX_SIGNED_SECONDS + SLOWEST_REFRESH_SECONDS
const REFRESH_MS = 60_000
/** Another process may have replaced the secret: read it again, but not for every forged URL. */
const REFRESH_AFTER_MS = 5_000

interface OpenStoreSecrets {
  current(): Buffer
  previous(): Buffer | null
  refresh(): Promise<void>
  close(): Promise<void>
}

export async function openStoreSecrets(db: Db, clock: Clock, onError: (error: unknown) => void): Promise<OpenStoreSecrets> {
  const read = () => rotatedSecretOf(db, STORE_SECRET, clock.now(), ACCEPT_PREVIOUS_SECONDS)
  let known: RotatedSecret = await read()
  let readAtMs = performance.now()
  const refresh = async (): Promise<void> => {
    if (performance.now() - readAtMs < REFRESH_AFTER_MS) return
    readAtMs = performance.now()
    known = await read()
  }
  const loop = startLoop({ step: async () => (await refresh(), false), restMs: REFRESH_MS, gapMs: 0, onError })
  return { current: () => known.current, previous: () => known.previous, refresh, close: () => loop.close() }
}
