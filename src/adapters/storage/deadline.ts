import type { Socket } from 'node:net'

export interface PaceLimits {
  /** In each stretch of this length … */
  readonly windowMs: number
  /** … at least so many bytes must move, in whichever direction. */
  readonly minBytes: number
  /** Calls at the end of each stretch until it is told to stop; the clock of the machine unless a test holds it. */
  readonly each?: (windowMs: number, look: () => void) => () => void
}

function byClock(windowMs: number, look: () => void): () => void {
  const timer = setInterval(look, windowMs).unref()
  return () => clearInterval(timer)
}

/** One byte now and then keeps an idle timer happy and a connection busy for ever; a least pace does not. Returns what ends the watch. */
export function watchPace(socket: Socket, { windowMs, minBytes, each = byClock }: PaceLimits, onTooSlow: () => void): () => void {
  let seen = socket.bytesRead + socket.bytesWritten
  return each(windowMs, () => {
    const moved = socket.bytesRead + socket.bytesWritten - seen
    seen += moved
    if (moved < minBytes) onTooSlow()
  })
}
