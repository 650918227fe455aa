import type { Socket } from 'node:net'

export interface PaceLimits {
  /** In each stretch of this length … */
  readonly windowMs: number
  /** … at least so many bytes must move, in whichever direction. */
  readonly minBytes: number
}

/** One byte now and then keeps an idle timer happy and a connection busy for ever; a least pace does not. Returns what ends the watch. */
export function watchPace(socket: Socket, limits: PaceLimits, onTooSlow: () => void): () => void {
  let seen = socket.bytesRead + socket.bytesWritten
  const timer = setInterval(() => {
    const moved = socket.bytesRead + socket.bytesWritten - seen
    seen += moved
    if (moved < limits.minBytes) onTooSlow()
  }, limits.windowMs)
  timer.unref()
  return () => clearInterval(timer)
}
