import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { Position } from '../../map/geo.ts'
import { editPath, type PathEditor } from '../../map/path-editor.ts'
import { formatPath, parsePath } from '../../map/path.ts'
import { sharedMap } from '../../map/shared-map.ts'
import { useUrl } from '../../state/url.ts'

interface Path {
  points: readonly Position[]
  /** With the place under the pointer, or the one that is dragged; null while there is neither. */
  preview: readonly Position[] | null
  isDone: boolean
  set(points: readonly Position[]): void
  finish(): void
}

/** Places in a row, set on the map and kept in the address. */
export function usePath(isClosed: boolean, onFinish?: (points: readonly Position[]) => void): Path {
  const [url, setUrl] = useUrl()
  const text = url['line'] ?? ''
  const points = useMemo(() => parsePath(text), [text])
  const [preview, setPreview] = useState<readonly Position[] | null>(null)
  // A path that came with the address is complete, and a click begins another; one that becomes something else is not yet.
  const [isDone, setDone] = useState(text !== '' && onFinish === undefined)
  const editor = useRef<PathEditor | null>(null)
  const set = useCallback(
    (next: readonly Position[]) => {
      setPreview(null)
      if (next.length < 2) setDone(false)
      setUrl({ line: formatPath(next) || null })
    },
    [setUrl],
  )
  const finish = () => {
    setPreview(null)
    if (points.length < (isClosed ? 3 : 2)) return
    setDone(true)
    onFinish?.(points)
  }
  const finishRef = useRef(finish)
  finishRef.current = finish
  useEffect(() => {
    const started = editPath(sharedMap(), isClosed, { onChange: set, onPreview: setPreview, onFinish: () => finishRef.current() })
    editor.current = started
    return () => started.stop()
  }, [isClosed, set])
  useEffect(() => editor.current?.show(points, isDone), [points, isDone, isClosed, set])
  return { points, preview, isDone, set, finish }
}
