/** Without an area, a view is searched on request: the list does not change while it is being read. */
import { useEffect, useState, type ReactElement } from 'react'
import type { Box } from '../../map/geo.ts'
import { sharedMap } from '../../map/shared-map.ts'
import { Button } from '../../ui/kit.ts'
import styles from './search-view.module.css'

/** Further out, a view is too large to search. */
const MIN_SEARCH_ZOOM = 6

interface SearchViewParts {
  hasArea: boolean
  /** The view that was searched last. */
  bbox: string | undefined
  onSearch(box: Box): void
}

export function SearchView({ hasArea, bbox, onSearch }: SearchViewParts): ReactElement | null {
  const [view, setView] = useState<{ key: string; zoom: number } | null>(null)
  useEffect(() => {
    const { map } = sharedMap()
    const onEnd = () =>
      setView({
        key: sharedMap()
          .viewBox()
          .map((value) => value.toFixed(3))
          .join(','),
        zoom: map.getZoom(),
      })
    map.on('moveend', onEnd)
    void sharedMap().ready.then(onEnd)
    return () => void map.off('moveend', onEnd)
  }, [])
  if (hasArea || !view || view.key === bbox || view.zoom < MIN_SEARCH_ZOOM) return null
  return (
    <div className={styles.searchView}>
      <Button icon="search" className={styles.button} onClick={() => onSearch(sharedMap().viewBox())}>
        Search this view
      </Button>
    </div>
  )
}
