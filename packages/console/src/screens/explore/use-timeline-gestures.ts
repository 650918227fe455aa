/** Brushing and zooming on the timeline: by pointer, by finger and by keys. */
import { useEffect, useRef, useState, type KeyboardEvent, type PointerEvent, type RefObject } from 'react'
import type { Range } from '../../parts/use-range-handles.ts'
import { moved, zoomed, type Period } from './timeline-bins.ts'

interface GestureParts {
  chart: RefObject<SVGSVGElement | null>
  /** What is shown, and all there is. */
  period: Period
  all: Period
  onPeriod(period: Period): void
  /** A range was brushed. */
  onBrush(range: Range): void
}

interface Gestures {
  /** While it is being brushed. */
  brush: Range | null
  zoom(factor: number): void
  /** Listeners of the chart. */
  surface: {
    onPointerDown(event: PointerEvent): void
    onPointerMove(event: PointerEvent): void
    onPointerUp(event: PointerEvent): void
    onPointerCancel(event: PointerEvent): void
    onKeyDown(event: KeyboardEvent): void
  }
}

export const ZOOM_STEP = 2
const WHEEL_SPEED = 0.002
/** Of the period, by an arrow key. */
const MOVE_STEP = 0.25
/** A shorter drag is a click. */
const MIN_DRAG_PX = 5

export function useTimelineGestures({ chart, period, all, onPeriod, onBrush }: GestureParts): Gestures {
  const [brush, setBrush] = useState<Range | null>(null)
  /** Where each finger is, and where the first one started. */
  const fingers = useRef(new Map<number, number>())
  const started = useRef(0)
  const timeAt = (clientX: number) => {
    const box = chart.current!.getBoundingClientRect()
    return period.start + Math.max(0, Math.min(1, (clientX - box.left) / box.width)) * (period.end - period.start)
  }
  const zoom = (factor: number, anchor = (period.start + period.end) / 2) => onPeriod(zoomed(period, { factor, anchor, all }))
  const move = (ms: number) => onPeriod(moved(period, ms, all))
  const onWheel = (event: WheelEvent) => {
    event.preventDefault() // The map behind would zoom as well.
    const sideways = event.shiftKey ? event.deltaY : event.deltaX
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
      move((sideways / chart.current!.clientWidth) * (period.end - period.start))
    else zoom(Math.exp(event.deltaY * WHEEL_SPEED), timeAt(event.clientX))
  }
  const latest = useRef(onWheel)
  latest.current = onWheel
  // React listens to wheels passively, which cannot keep them from the map.
  useEffect(() => {
    const element = chart.current
    const listen = (event: WheelEvent) => latest.current(event)
    element?.addEventListener('wheel', listen, { passive: false })
    return () => element?.removeEventListener('wheel', listen)
  }, [chart])
  const end = (event: PointerEvent) => {
    fingers.current.delete(event.pointerId)
    setBrush(null)
  }
  return {
    brush,
    zoom,
    surface: {
      onPointerDown(event) {
        if ((event.target as Element).closest('[role="slider"]')) return
        event.currentTarget.setPointerCapture(event.pointerId)
        if (fingers.current.size === 0) started.current = event.clientX
        fingers.current.set(event.pointerId, event.clientX)
      },
      onPointerMove(event) {
        const before = fingers.current.get(event.pointerId)
        if (before === undefined) return
        fingers.current.set(event.pointerId, event.clientX)
        const other = Array.from(fingers.current).find(([id]) => id !== event.pointerId)?.[1]
        if (other === undefined) {
          if (Math.abs(event.clientX - started.current) < MIN_DRAG_PX) return
          const [a, b] = [timeAt(started.current), timeAt(event.clientX)]
          return setBrush([Math.min(a, b), Math.max(a, b)])
        }
        // Two fingers: what is under the one that rests stays there.
        setBrush(null)
        started.current = Number.NaN
        const [from, to] = [Math.abs(before - other), Math.abs(event.clientX - other)]
        if (from > 0 && to > 0) zoom(from / to, timeAt(other))
      },
      onPointerUp(event) {
        if (brush && fingers.current.size === 1) onBrush(brush)
        end(event)
      },
      onPointerCancel: end,
      onKeyDown(event) {
        if (event.target !== event.currentTarget) return
        const length = period.end - period.start
        const run = {
          '+': () => zoom(1 / ZOOM_STEP),
          '=': () => zoom(1 / ZOOM_STEP),
          '-': () => zoom(ZOOM_STEP),
          ArrowLeft: () => move(-length * MOVE_STEP),
          ArrowRight: () => move(length * MOVE_STEP),
        }[event.key]
        if (!run) return
        event.preventDefault()
        run()
      },
    },
  }
}
