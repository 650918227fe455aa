/** Pictures that need the caller's token: a few are fetched at a time, and some are kept, as addresses that an image can show. */

const MAX_KEPT = 300
export const MAX_AT_ONCE = 6

interface PictureServices {
  fetch(path: string, signal: AbortSignal): Promise<Blob>
  /** `URL.createObjectURL` and its opposite. */
  show(picture: Blob): string
  revoke(address: string): void
}

interface Pictures {
  known(path: string): string | null
  get(path: string, signal?: AbortSignal): Promise<string>
  /** Takes back every address: whoever signs in next must not see them. */
  forget(): void
}

export function createPictures({ fetch, show, revoke }: PictureServices): Pictures {
  const kept = new Map<string, string>()
  const waiting: (() => void)[] = []
  let running = 0
  let ended = new AbortController()

  /** Whoever ends hands its place to the next in line, so that nobody who comes in between can take it. */
  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (running < MAX_AT_ONCE) running++
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }

  function keep(path: string, picture: Blob): string {
    const url = show(picture)
    const former = kept.get(path)
    if (former) revoke(former)
    kept.set(path, url)
    if (kept.size > MAX_KEPT) {
      const [oldest, address] = kept.entries().next().value!
      kept.delete(oldest)
      revoke(address)
    }
    return url
  }

  return {
    known: (path) => kept.get(path) ?? null,
    async get(path, signal) {
      const first = kept.get(path)
      if (first) return first
      const session = ended.signal
      return await inTurn(async () => {
        const known = kept.get(path)
        if (known && !session.aborted) return known
        const stop = signal ? AbortSignal.any([signal, session]) : session
        stop.throwIfAborted()
        const picture = await fetch(path, stop)
        stop.throwIfAborted()
        return keep(path, picture)
      })
    },
    forget() {
      ended.abort()
      ended = new AbortController()
      for (const address of kept.values()) revoke(address)
      kept.clear()
    },
  }
}
