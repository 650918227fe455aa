/** Two scenes over each other on the map: the shared map has the left one, a second map the right one. */
import { useState, type ReactElement } from 'react'
import type { Picture } from '../../map/shared-map.ts'
import { SwipeDivider } from '../../map/swipe-divider.tsx'
import { useSecondMap } from '../../map/use-second-map.ts'
import styles from './scene-swipe.module.css'

const MIDDLE = 50

/** What the right side shows. */
interface SceneSwipeParts {
  tiles: string | null
  picture: Picture | null
}

export function SceneSwipe({ tiles, picture }: SceneSwipeParts): ReactElement {
  const [at, setAt] = useState(MIDDLE)
  const second = useSecondMap(tiles, picture)
  return (
    <>
      <div className={styles.second} ref={second} style={{ clipPath: `inset(0 0 0 ${at}%)` }} />
      <SwipeDivider label="Divider between the scenes" at={at} onMove={setAt} onEnd={setAt} />
    </>
  )
}
