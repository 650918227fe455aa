/** A list that draws as much as is looked at: what comes next is drawn when its end comes near. */
import { useEffect, useRef, useState, type RefObject } from 'react'

const STEP = 50
/** Drawn before it is seen, so that nobody scrolls into nothing. */
const AHEAD = '600px'

/** How many of so many rows to draw, among them the one that must be seen, and what to put behind the last. */
export function useMore<End extends HTMLElement = HTMLLIElement>(
  length: number,
  needed = -1,
): { shown: number; end: RefObject<End | null> } {
  const [wanted, setWanted] = useState(STEP)
  const end = useRef<End>(null)
  const shown = Math.min(length, Math.max(wanted, Math.ceil((needed + 2) / STEP) * STEP))
  useEffect(() => {
    const last = end.current
    if (!last) return
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setWanted(shown + STEP)
      },
      { root: last.parentElement, rootMargin: AHEAD },
    )
    observer.observe(last)
    return () => observer.disconnect()
  }, [shown, length])
  return { shown, end }
}
