/** Two maps over each other, of which the second is clipped. */
import { useEffect, useRef, useState, type KeyboardEvent, type PointerEvent, type ReactElement } from 'react'
import type { Box } from '../../map/geo.ts'
import { MapSlot } from '../../map/map-slot.tsx'
import { sharedMap } from '../../map/shared-map.ts'
import { Icon } from '../../ui/icons.tsx'
import { useSecondMap } from './use-second-map.ts'
import styles from './compared-maps.module.css'

export type Mode = 'swipe' | 'side' | 'blink'

/** Once a second: slow enough for people with photosensitivity. */
const BLINK_MS = 1_000
const PADDING = { top: 80, bottom: 90, left: 40, right: 40 }

interface ComparedMapsParts {
  mode: Mode
  /** Tile URLs of both items; null until they are chosen. */
  left: string | null
  right: string | null
  box: Box | null
  /** Where the divider is, in percent of the width. */
  at: number
  onAt(at: number): void
}

export function ComparedMaps({ mode, left, right, box, at, onAt }: ComparedMapsParts): ReactElement {
  const [shown, setShown] = useState(at)
  const [isSecondShown, setSecondShown] = useState(false)
  const second = useSecondMap(right)
  const boxKey = box?.join()
  useEffect(() => {
    sharedMap().setRasters(left ? [{ id: 'compare-a', tiles: left }] : [])
  }, [left])
  useEffect(() => {
    if (box) sharedMap().fit(box, { animate: false, padding: PADDING })
    // oxlint-disable-next-line exhaustive-deps
  }, [boxKey])
  useEffect(() => {
    if (mode !== 'blink') return
    const timer = setInterval(() => setSecondShown((now) => !now), BLINK_MS)
    return () => clearInterval(timer)
  }, [mode])
  const hidden = mode === 'swipe' ? shown : mode === 'side' ? 50 : isSecondShown ? 0 : 100
  return (
    <div className={styles.maps}>
      <MapSlot className={styles.first} zoomClassName={styles.zoom} />
      <div className={styles.second} ref={second} style={{ clipPath: `inset(0 0 0 ${hidden}%)` }} />
      {mode === 'swipe' && <Divider at={shown} onMove={setShown} onEnd={onAt} />}
    </div>
  )
}

interface DividerParts {
  at: number
  onMove(at: number): void
  onEnd(at: number): void
}

const within = (percent: number) => Math.max(0, Math.min(100, percent))

function Divider({ at, onMove, onEnd }: DividerParts): ReactElement {
  const divider = useRef<HTMLDivElement>(null)
  const onPointerMove = (event: PointerEvent) => {
    if (event.buttons === 0) return
    const area = divider.current!.parentElement!.getBoundingClientRect()
    onMove(within(((event.clientX - area.left) / area.width) * 100))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const next = within(at + step * (event.shiftKey ? 10 : 1))
    onMove(next)
    onEnd(next)
  }
  return (
    <div
      ref={divider}
      className={styles.divider}
      style={{ left: `${at}%` }}
      role="slider"
      tabIndex={0}
      aria-label="Divider between A and B"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(at)}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={onPointerMove}
      onPointerUp={() => onEnd(at)}
    >
      <span>
        <Icon name="swipe" />
      </span>
    </div>
  )
}
