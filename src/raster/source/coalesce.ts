import { RasterError } from '#raster/errors.ts'
import { assertRange } from '#raster/source/range.ts'
import type { Source } from '#raster/types.ts'

interface CoalesceOptions {
  /** Ranges closer than this are merged: a round trip costs more than these bytes. */
  readonly gapBytes?: number
  readonly maxRangeBytes?: number
}

const DEFAULT_GAP_BYTES = 32 * 1024
const DEFAULT_MAX_RANGE_BYTES = 16 * 1024 * 1024

interface Waiting {
  readonly offset: number
  readonly length: number
  readonly signal: AbortSignal | undefined
  readonly resolve: (bytes: Uint8Array) => void
  readonly reject: (error: unknown) => void
}

interface Run {
  readonly offset: number
  end: number
  readonly parts: Waiting[]
}

/**
 * Merges the ranges requested in one turn of the event loop: neighbouring blocks of a tile need
 * one request.
 */
export function coalesced(source: Source, options: CoalesceOptions = {}): Source {
  const gapBytes = options.gapBytes ?? DEFAULT_GAP_BYTES
  const maxRangeBytes = options.maxRangeBytes ?? DEFAULT_MAX_RANGE_BYTES
  let waiting: Waiting[] = []

  const flush = (): void => {
    const batch = waiting
    waiting = []
    for (const run of joinRuns(batch, gapBytes, maxRangeBytes)) void serve(source, run)
  }

  return {
    key: source.key,
    size: source.size,
    etag: source.etag,
    async fetch(offset, length, signal) {
      assertRange(offset, length, source.size)
      return new Promise((resolve, reject) => {
        if (waiting.length === 0) setImmediate(flush)
        waiting.push({ offset, length, signal, resolve, reject })
      })
    },
    ...(source.close ? { close: () => source.close?.() ?? Promise.resolve() } : {}),
  }
}

function joinRuns(batch: readonly Waiting[], gapBytes: number, maxRangeBytes: number): Run[] {
  const runs: Run[] = []
  let open: Run | null = null
  for (const part of batch.toSorted((a, b) => a.offset - b.offset)) {
    const end = part.offset + part.length
    if (open && part.offset - open.end <= gapBytes && Math.max(open.end, end) - open.offset <= maxRangeBytes) {
      open.end = Math.max(open.end, end)
      open.parts.push(part)
    } else {
      open = { offset: part.offset, end, parts: [part] }
      runs.push(open)
    }
  }
  return runs
}

/** A shared request is aborted only when all its callers have aborted. */
async function serve(source: Source, run: Run): Promise<void> {
  const everyone = new AbortController()
  const giveUp = (): void => {
    const gone = run.parts.filter((part) => part.signal?.aborted)
    for (const part of gone) part.reject(new RasterError('aborted', 'The raster operation was cancelled'))
    if (gone.length === run.parts.length) everyone.abort()
  }
  for (const part of run.parts) part.signal?.addEventListener('abort', giveUp, { once: true })
  giveUp()
  try {
    const bytes = await source.fetch(run.offset, run.end - run.offset, everyone.signal)
    for (const part of run.parts) {
      const start = part.offset - run.offset
      part.resolve(bytes.subarray(start, start + part.length))
    }
  } catch (error) {
    for (const part of run.parts) part.reject(error)
  } finally {
    for (const part of run.parts) part.signal?.removeEventListener('abort', giveUp)
  }
}
