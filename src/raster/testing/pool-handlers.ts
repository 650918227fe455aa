/** Handlers that misbehave, for the tests of the pool. */
import { RasterError } from '#raster/errors.ts'
import type { Handler } from '#raster/pool/protocol.ts'

const kept: Buffer[] = []

let rests = 0

export const handlers = {
  echo: async (input: unknown) => input,
  pid: async () => process.pid,
  rest: async () => {
    rests += 1
  },
  rests: async () => rests,
  environment: async () => Object.keys(process.env),
  refuse: async (message: string) => Promise.reject(new RasterError('corrupt', message)),
  throw: async () => Promise.reject(new Error('a bug')),
  crash: async () => process.kill(process.pid, 'SIGSEGV'),
  spin: async () => {
    // Blocks the child for ever, as a hostile file may.
    for (;;);
  },
  wait: (_input: unknown, signal: AbortSignal) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new RasterError('aborted', 'stopped')), { once: true })
    }),
  hoard: async () => {
    const held: Buffer[] = []
    for (;;) {
      held.push(Buffer.alloc(16 * 1024 * 1024, 1))
      await new Promise((resolve) => setImmediate(resolve))
    }
  },
  /** Grows to a size and stays there, as caches do. */
  grow: async (bytes: number) => {
    while (process.memoryUsage.rss() < bytes) kept.push(Buffer.alloc(1024 * 1024, 1))
  },
} satisfies Record<string, Handler>
