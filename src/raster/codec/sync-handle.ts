/** The synchronous handle of Node's compression streams: it fills a buffer, stops, and can be reused. It is not public. */
interface SyncHandle {
  reset(): void
  writeSync(
    flush: number,
    input: Uint8Array,
    inputAt: number,
    inputLength: number,
    output: Uint8Array,
    outputAt: number,
    outputLength: number,
  ): void
  onerror: (message: string, errno: number, code: string) => void
}

interface Opened {
  readonly handle: SyncHandle
  /** Node writes the remaining space and input here: [availableOut, availableIn]. */
  readonly left: Uint32Array
}

/** Null if it has an unexpected shape; the public functions are used then. */
export function syncHandleOf(stream: object): Opened | null {
  const handle = Reflect.get(stream, '_handle') as Partial<SyncHandle> | undefined
  const left = Reflect.get(stream, '_writeState') as unknown
  if (typeof handle?.reset !== 'function' || typeof handle.writeSync !== 'function') return null
  return left instanceof Uint32Array && left.length >= 2 ? { handle: handle as SyncHandle, left } : null
}
