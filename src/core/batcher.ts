import { asPlatform } from './tenant.ts'

interface BatchLimits {
  maxKeys: number
  maxInFlight: number
}

/**
 * Combines single lookups into batches: keys requested while a batch is in flight form the next batch. A single caller does not wait,
 * and concurrent callers share round trips. `run` returns the values in the order of its keys.
 */
export function batcher<K, V>(run: (keys: readonly K[]) => Promise<readonly V[]>, limits: BatchLimits): (key: K) => Promise<V> {
  const waiting: { key: K; resolve: (value: V) => void; reject: (error: unknown) => void }[] = []
  let inFlight = 0
  let scheduled = false

  const pump = (): void => {
    scheduled = false
    while (waiting.length > 0 && inFlight < limits.maxInFlight) {
      const batch = waiting.splice(0, limits.maxKeys)
      inFlight++
      void Promise.resolve(batch.map((entry) => entry.key))
        .then((keys) => asPlatform(() => run(keys))) // Inside the chain, so that a run that throws synchronously only fails its batch.
        .then((values) => batch.forEach((entry, index) => entry.resolve(values[index]!)))
        .catch((error: unknown) => batch.forEach((entry) => entry.reject(error)))
        .finally(() => {
          inFlight--
          schedule()
        })
    }
  }
  const schedule = (): void => {
    if (scheduled || waiting.length === 0) return
    scheduled = true
    setImmediate(pump) // After the other requests of this event-loop turn have been read from their sockets.
  }

  return (key) =>
    new Promise<V>((resolve, reject) => {
      waiting.push({ key, resolve, reject })
      if (inFlight < limits.maxInFlight) schedule()
    })
}
