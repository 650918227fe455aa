/** Politeness: a host is asked so much at a time, and the others wait in order, at the latest until their own deadline. */
import { VendorError } from '#ports/vendors.ts'

export type Line = <T>(work: () => Promise<T>, leftMs: number, signal: AbortSignal | undefined) => Promise<T>

const MAX_RUNNING = 6
const MAX_WAITING = 200

export function createLine(hostName: string): Line {
  const waiting: (() => void)[] = []
  let running = 0

  const wait = (leftMs: number, signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      const leave = (error: unknown) => {
        const at = waiting.indexOf(enter)
        if (at >= 0) waiting.splice(at, 1)
        clearTimeout(timer)
        reject(error)
      }
      const abort = () => leave(signal!.reason)
      const late = () => leave(new VendorError('timeout', hostName, `${hostName} was too busy to be asked in time`))
      const timer = setTimeout(late, leftMs)
      const enter = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', abort)
        resolve()
      }
      waiting.push(enter)
      signal?.addEventListener('abort', abort, { once: true })
    })

  return async (work, leftMs, signal) => {
    signal?.throwIfAborted()
    if (running < MAX_RUNNING) running++
    else if (waiting.length >= MAX_WAITING) throw new VendorError('unavailable', hostName, `Too many requests wait for ${hostName}`)
    else await wait(leftMs, signal)
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next() // The place is handed over, so that nobody slips in between.
      else running--
    }
  }
}
