/**
 * Memory for pixels, used again. A fresh page costs 2–3 µs where it was measured: for a block of 2 MB about a tenth of
 * what decoding it takes. Buffers come in steps of 64 KiB; what is smaller is left to the engine.
 *
 * A buffer that is given back must not be looked at any more. One that never is costs nothing but its reuse.
 *
 * This is the process's allocator of pixels, so it is a module and not a service: it holds memory, never data.
 */
const STEP_BYTES = 64 * 1024
const MAX_FREE_BYTES = 32 * 1024 * 1024

const free = new Map<number, ArrayBuffer[]>()
/** Buffers that are out. Only these are taken back, and each once. */
const lent = new WeakSet<ArrayBufferLike>()
let freeBytes = 0

/** Exactly so many bytes, with anything in them. */
export function takeBytes(length: number): Uint8Array<ArrayBuffer> {
  if (length < STEP_BYTES) return new Uint8Array(length)
  const size = Math.ceil(length / STEP_BYTES) * STEP_BYTES
  const known = free.get(size)?.pop()
  if (known) freeBytes -= size
  const buffer = known ?? new ArrayBuffer(size)
  lent.add(buffer)
  return new Uint8Array(buffer, 0, length)
}

/** The same, all 0. */
export function takeZeros(length: number): Uint8Array<ArrayBuffer> {
  return takeBytes(length).fill(0)
}

/** Lets go of everything that waits to be used again. */
export function releaseBytes(): void {
  free.clear()
  freeBytes = 0
}

/** Takes back what `takeBytes` gave; anything else is left alone. Where there is too much, sizes that nobody asks for any more go. */
export function giveBack({ buffer }: { readonly buffer: ArrayBufferLike }): void {
  const size = buffer.byteLength
  if (!lent.delete(buffer) || size > MAX_FREE_BYTES) return
  const known = free.get(size) ?? []
  // The last one of the map is the size that was used last.
  free.delete(size)
  for (const [other, buffers] of free) {
    while (freeBytes + size > MAX_FREE_BYTES && buffers.pop()) freeBytes -= other
    if (buffers.length > 0) break
    free.delete(other)
  }
  free.set(size, known)
  if (freeBytes + size > MAX_FREE_BYTES) return
  freeBytes += size
  known.push(buffer as ArrayBuffer)
}
