import { asPlatform } from './tenant.ts'

interface BatchLimits {
  maxKeys: number
  maxInFlight: number
}

/**
 * Turns single look-ups into shared ones: what is asked while a batch is on its way forms the next batch. A lone caller
 * waits for nobody; a crowd shares round trips. `run` answers in the order of its keys.
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
        .then((keys) => asPlatform(() => run(keys))) // Inside the chain: a run that throws at once fails its batch and nothing else.
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
    setImmediate(pump) // After this turn's other requests have been read from their sockets.
  }

  return (key) =>
    new Promise<V>((resolve, reject) => {
      waiting.push({ key, resolve, reject })
      if (inFlight < limits.maxInFlight) schedule()
    })
}
