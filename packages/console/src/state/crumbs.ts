/** Where one is, for the top bar and the title of the tab. */
import { useEffect, useSyncExternalStore } from 'react'

interface Crumb {
  text: string
  /** An address of the console. */
  to?: string
}

const listeners = new Set<() => void>()
let crumbs: readonly Crumb[] = []

export function useCrumbs(): readonly Crumb[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => crumbs,
  )
}

/** A screen says where it is; the last part names the tab. */
export function useTitle(...parts: readonly (Crumb | string)[]): void {
  const text = JSON.stringify(parts)
  useEffect(() => {
    crumbs = (JSON.parse(text) as (Crumb | string)[]).map((part) => (typeof part === 'string' ? { text: part } : part))
    document.title = `${crumbs.at(-1)?.text ?? 'Console'} · Groundtrack`
    for (const listener of listeners) listener()
  }, [text])
}
