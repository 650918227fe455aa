/** Parts of screens that are large and not wanted at once: they are loaded when they are first shown. */
import { useEffect, useState, type ComponentType, type JSX, type ReactElement, type ReactNode } from 'react'
import { LoadError, LoadFailed, withLoadError } from './load-error.tsx'
import styles from './load-later.module.css'

/** `waiting` is shown until the part is there. A part that cannot be loaded says so, and the screen around it stays. */
export function loadLater<P extends object>(
  load: () => Promise<ComponentType<P>>,
  waiting: ReactNode = null,
): (parts: P) => ReactElement | null {
  let Part: ComponentType<P> | null = null
  const loadPart = withLoadError(load)
  return function Later(parts) {
    const [state, setState] = useState<'loading' | 'loaded' | LoadError>(Part ? 'loaded' : 'loading')
    useEffect(() => {
      if (Part) return
      let isGone = false
      const report = (next: 'loaded' | LoadError) => {
        if (!isGone) setState(next)
      }
      loadPart().then(
        (loaded) => {
          Part = loaded
          report('loaded')
        },
        (error: unknown) => report(error as LoadError),
      )
      return () => {
        isGone = true
      }
    }, [])
    if (state instanceof LoadError)
      return (
        <div className={styles.failed}>
          <LoadFailed />
        </div>
      )
    return Part ? <Part {...(parts as P & JSX.IntrinsicAttributes)} /> : <>{waiting}</>
  }
}
