/** A value outside React that any module can read and change, and that components follow. */
import { useSyncExternalStore } from 'react'

interface Store<T> {
  get(): T
  set(next: T): void
  /** Calls the listener after every change, until what it returns is called. */
  subscribe(listener: () => void): () => void
  /** The value, in a component: it is drawn again when the value changes. */
  use(): T
}

/** Where this browser keeps the value between visits, and how it is written there. */
interface Kept<T> {
  readonly key: string
  read(text: string): T
  write(value: T): string
}

export function createStore<T>(initial: T, kept?: Kept<T>): Store<T> {
  const listeners = new Set<() => void>()
  let value = kept ? recall(kept, initial) : initial
  const get = () => value
  const subscribe = (listener: () => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  const set = (next: T) => {
    if (Object.is(next, value)) return
    value = next
    if (kept) localStorage.setItem(kept.key, kept.write(next))
    for (const listener of listeners) listener()
  }
  return { get, set, subscribe, use: () => useSyncExternalStore(subscribe, get) }
}

/** What cannot be read, because it is broken or the browser keeps nothing, counts as absent. */
function recall<T>({ key, read }: Kept<T>, initial: T): T {
  try {
    const text = localStorage.getItem(key)
    return text === null ? initial : read(text)
  } catch {
    return initial
  }
}
