const SOON_MS = 200

/** Runs work that can wait when the browser has nothing else to do. Returns how to call it off. Safari has no idle callbacks. */
export function whenIdle(work: () => void): () => void {
  if ('requestIdleCallback' in window) {
    const idle = requestIdleCallback(work)
    return () => cancelIdleCallback(idle)
  }
  const timer = setTimeout(work, SOON_MS)
  return () => clearTimeout(timer)
}
