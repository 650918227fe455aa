/** The breadcrumbs in the top bar, and the title of the tab. */
import { useEffect } from 'react'
import { createStore } from '../store.ts'

interface Crumb {
  text: string
  /** An address of the console. */
  to?: string
}

const crumbs = createStore<readonly Crumb[]>([])

export const useCrumbs = crumbs.use

/** Sets the breadcrumbs of a screen; the last one is the title of the tab. Without parts, another component of the screen sets them. */
export function useTitle(...parts: readonly (Crumb | string)[]): void {
  const text = JSON.stringify(parts)
  useEffect(() => {
    if (text === '[]') return
    const next = (JSON.parse(text) as (Crumb | string)[]).map((part) => (typeof part === 'string' ? { text: part } : part))
    document.title = `${next.at(-1)?.text ?? 'Console'} · Groundtrack`
    crumbs.set(next)
  }, [text])
}
