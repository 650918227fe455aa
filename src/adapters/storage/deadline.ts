import type { Socket } from 'node:net'

export interface PaceLimits {
  /** In each window of this length … */
  readonly windowMs: number
  /** … at least this many bytes must move, in either direction. */
  readonly minBytes: number
  /** Called at the end of each window until stopped; tests replace the system clock. */
  readonly each?: (windowMs: number, look: () => void) => () => void
}

function byClock(windowMs: number, look: () => void): () => void {
  const timer = setInterval(look, windowMs).unref()
  return () => clearInterval(timer)
}

/** A slow client that sends a byte now and then never idles out, so require a minimum rate. Returns a function that ends the watch. */
export function watchPace(socket: Socket, { windowMs, minBytes, each = byClock }: PaceLimits, onTooSlow: () => void): () => void {
  let seen = socket.bytesRead + socket.bytesWritten
  return each(windowMs, () => {
    const moved = socket.bytesRead + socket.bytesWritten - seen
    seen += moved
    if (moved < minBytes) onTooSlow()
  })
}
