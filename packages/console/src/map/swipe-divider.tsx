/** The divider between two maps that lie over each other: dragged, or moved with the arrow keys. */
import { useRef, type KeyboardEvent, type PointerEvent, type ReactElement } from 'react'
import { Icon } from '../ui/icons.tsx'
import styles from './swipe-divider.module.css'

interface DividerParts {
  label: string
  /** In percent of the width. */
  at: number
  onMove(at: number): void
  onEnd(at: number): void
}

const within = (percent: number) => Math.max(0, Math.min(100, percent))

export function SwipeDivider({ label, at, onMove, onEnd }: DividerParts): ReactElement {
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
      aria-label={label}
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
