/** A picture of the service that needs the caller's token: asked for when it comes into view, kept for a while. */
import { useEffect, useRef, useState, type ReactElement } from 'react'
import { freshToken } from '../api/session.ts'

const MAX_KEPT = 300
const MAX_AT_ONCE = 6
const kept = new Map<string, string>()
const waiting: (() => void)[] = []
let running = 0

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= MAX_AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve))
  running++
  try {
    return await work()
  } finally {
    running--
    waiting.shift()?.()
  }
}

/** An address that an image element or the map can show. */
export async function pictureOf(path: string, signal?: AbortSignal): Promise<string> {
  const known = kept.get(path)
  if (known) return known
  return await inTurn(async () => {
    signal?.throwIfAborted()
    const token = await freshToken()
    const response = await fetch(path, { headers: token ? { authorization: `Bearer ${token}` } : {}, signal: signal ?? null })
    if (!response.ok) throw new Error(`HTTP ${response.status}`)
    const url = URL.createObjectURL(await response.blob())
    kept.set(path, url)
    if (kept.size > MAX_KEPT) {
      const [oldest, address] = kept.entries().next().value!
      kept.delete(oldest)
      URL.revokeObjectURL(address)
    }
    return url
  })
}

export function AuthImage({ path, alt }: { path: string | null; alt: string }): ReactElement {
  const [url, setUrl] = useState(path ? (kept.get(path) ?? null) : null)
  const place = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    setUrl(path ? (kept.get(path) ?? null) : null)
    if (!path) return
    const stopped = new AbortController()
    const watcher = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return
      watcher.disconnect()
      pictureOf(path, stopped.signal)
        .then((address) => {
          if (!stopped.signal.aborted) setUrl(address)
        })
        .catch(() => undefined)
    })
    watcher.observe(place.current!)
    return () => {
      stopped.abort()
      watcher.disconnect()
    }
  }, [path])
  return (
    <span ref={place} className="pic">
      {url && <img src={url} alt={alt} draggable={false} />}
    </span>
  )
}

/** The path of a tile in the middle of a box that holds nearly all of it. */
export function tileOf(root: string, box: readonly number[] | null | undefined, query = ''): string | null {
  if (!box || box.length < 4) return null
  const [west, south, east, north] = box as [number, number, number, number]
  const x = (longitude: number) => (longitude + 180) / 360
  const y = (latitude: number) => {
    const sine = Math.sin((Math.max(-85, Math.min(85, latitude)) * Math.PI) / 180)
    return 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)
  }
  const size = Math.max(x(east) - x(west), y(south) - y(north), 1e-9)
  const z = Math.max(0, Math.min(20, Math.ceil(Math.log2(1 / size))))
  const column = Math.floor(x((west + east) / 2) * 2 ** z)
  const row = Math.floor(y((south + north) / 2) * 2 ** z)
  return `${root}/tiles/${z}/${column}/${row}.webp${query}`
}
