/** Parts of screens that are large and not wanted at once: they are loaded when they are first shown. */
import { lazy, Suspense, type ComponentType, type JSX, type ReactElement } from 'react'

export function loadLater<P extends object>(load: () => Promise<ComponentType<P>>): (parts: P) => ReactElement {
  const Part = lazy(async () => ({ default: await load() }))
  return (parts) => (
    <Suspense fallback={null}>
      <Part {...(parts as P & JSX.IntrinsicAttributes)} />
    </Suspense>
  )
}
