/** The synchronous handle inside Node's compression streams: it fills a buffer, stops, and can be used again. It is not public. */
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
  /** Where Node writes how much of the output and of the input was left: [availableOut, availableIn]. */
  readonly left: Uint32Array
}

/** Null where it does not have the shape that we know: then the public functions have to do. */
export function syncHandleOf(stream: object): Opened | null {
  const handle = Reflect.get(stream, '_handle') as Partial<SyncHandle> | undefined
  const left = Reflect.get(stream, '_writeState') as unknown
  if (typeof handle?.reset !== 'function' || typeof handle.writeSync !== 'function') return null
  return left instanceof Uint32Array && left.length >= 2 ? { handle: handle as SyncHandle, left } : null
}
