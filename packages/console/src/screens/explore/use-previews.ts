import { useCallback, useMemo } from 'react'
import type { Scene } from '../../state/scene.ts'
import type { UrlPatch } from '../../state/url.ts'
import { previewsFromUrl, previewsInUrl, withoutPreview, withPreviews } from './previews.ts'

interface Previews {
  /** Keys of the scenes, the newest last. */
  previews: readonly string[]
  setPreviews(keys: readonly string[]): void
  togglePreview(scene: Scene): void
}

/** The scenes whose previews are on the map are in the address. Another set ends a swipe. */
export function usePreviews(text: string | undefined, setUrl: (patch: UrlPatch) => void): Previews {
  const previews = useMemo(() => previewsFromUrl(text), [text])
  const setPreviews = useCallback((keys: readonly string[]) => setUrl({ show: previewsInUrl(keys), swipe: null }), [setUrl])
  const togglePreview = useCallback(
    ({ key }: Scene) => setPreviews(previews.includes(key) ? withoutPreview(previews, key) : withPreviews(previews, [key])),
    [previews, setPreviews],
  )
  return { previews, setPreviews, togglePreview }
}
