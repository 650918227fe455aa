import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below those that systems give to connections and to listeners of port 0, so that none of them takes it while its service is away. */
const [FIRST, LAST] = [12_000, 32_000]
const MAX_ATTEMPTS = 100

/** A port that was free a moment ago, for a service that must come back where it was, or that prints another address than its own. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const port = randomInt(FIRST, LAST)
    const probe = createServer().listen(port, '127.0.0.1')
    const isFree = await once(probe, 'listening').then(
      () => true,
      () => false,
    )
    await new Promise((resolve) => probe.close(resolve))
    if (isFree) return port
  }
  throw new Error(`no free port in ${MAX_ATTEMPTS} attempts`)
}
