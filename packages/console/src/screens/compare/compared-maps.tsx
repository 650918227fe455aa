/** Two maps over each other, of which the second is clipped; or the difference of both items. */
import { useEffect, useState, type ReactElement } from 'react'
import type { Box } from '../../map/geo.ts'
import { MapSlot } from '../../map/map-slot.tsx'
import { sharedMap } from '../../map/shared-map.ts'
import { SwipeDivider } from '../../map/swipe-divider.tsx'
import { useSecondMap } from '../../map/use-second-map.ts'
import styles from './compared-maps.module.css'

export type Mode = 'swipe' | 'side' | 'blink' | 'difference'

/** Once a second: slow enough for people with photosensitivity. */
const BLINK_MS = 1_000
const PADDING = { top: 80, bottom: 90, left: 40, right: 40 }

interface ComparedMapsParts {
  mode: Mode
  /** Tile URLs of both items; null until they are chosen. */
  left: string | null
  right: string | null
  /** Tile URL of the difference; null until it is measured. */
  difference: string | null
  box: Box | null
  /** Where the divider is, in percent of the width. */
  at: number
  onAt(at: number): void
}

export function ComparedMaps({ mode, left, right, difference, box, at, onAt }: ComparedMapsParts): ReactElement {
  const [shown, setShown] = useState(at)
  const [isSecondShown, setSecondShown] = useState(false)
  const second = useSecondMap(right)
  const boxKey = box?.join()
  const shownDifference = mode === 'difference' ? difference : null
  useEffect(() => {
    if (shownDifference) sharedMap().setRasters([{ id: 'compare-difference', tiles: shownDifference }])
    else sharedMap().setRasters(left ? [{ id: 'compare-a', tiles: left }] : [])
  }, [left, shownDifference])
  useEffect(() => {
    if (box) sharedMap().fit(box, { animate: false, padding: PADDING })
    // oxlint-disable-next-line exhaustive-deps
  }, [boxKey])
  useEffect(() => {
    if (mode !== 'blink') return
    const timer = setInterval(() => setSecondShown((now) => !now), BLINK_MS)
    return () => clearInterval(timer)
  }, [mode])
  const hidden = mode === 'swipe' ? shown : mode === 'side' ? 50 : mode === 'blink' && isSecondShown ? 0 : 100
  return (
    <div className={styles.maps}>
      <MapSlot className={styles.first} zoomClassName={styles.zoom} />
      <div className={styles.second} ref={second} style={{ clipPath: `inset(0 0 0 ${hidden}%)` }} />
      {mode === 'swipe' && <SwipeDivider label="Divider between A and B" at={shown} onMove={setShown} onEnd={onAt} />}
    </div>
  )
}
