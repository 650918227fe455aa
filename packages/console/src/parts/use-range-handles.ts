/** The two handles of a range on a chart, dragged by pointer or finger and moved by keys. The change is reported on release. */
import { useRef, useState, type KeyboardEvent, type PointerEvent, type RefObject } from 'react'

export type Range = [low: number, high: number]
export type Edge = 0 | 1
export const EDGES: readonly Edge[] = [0, 1]

interface RangeParts {
  range: Range
  /** The values at the left and right edge of the chart. */
  low: number
  high: number
  /** What an arrow key moves a handle by, and what a page key does. */
  step: number
  pageStep: number
  onMove(edge: Edge, value: number): void
  /** The range while a handle is dragged. */
  onPreview?(range: Range): void
}

interface RangeHandles {
  chart: RefObject<SVGSVGElement | null>
  /** The range with the handle where it is being dragged. */
  shown: Range
  /** The listeners of a handle. */
  handle(edge: Edge): {
    onPointerDown(event: PointerEvent): void
    onPointerMove(event: PointerEvent): void
    onPointerUp(): void
    onKeyDown(event: KeyboardEvent): void
  }
}

export function useRangeHandles({ range, low, high, step, pageStep, onMove, onPreview }: RangeParts): RangeHandles {
  const [drag, setDrag] = useState<{ edge: Edge; value: number } | null>(null)
  const chart = useRef<SVGSVGElement>(null)
  const valueAt = (event: PointerEvent) => {
    const box = chart.current!.getBoundingClientRect()
    return low + Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) * (high - low)
  }
  return {
    chart,
    shown: drag ? (range.with(drag.edge, drag.value) as Range) : range,
    handle: (edge) => ({
      onPointerDown(event) {
        event.currentTarget.setPointerCapture(event.pointerId)
        setDrag({ edge, value: range[edge] })
      },
      onPointerMove(event) {
        if (drag?.edge !== edge) return
        const value = valueAt(event)
        setDrag({ edge, value })
        onPreview?.(range.with(edge, value) as Range)
      },
      onPointerUp() {
        if (drag) onMove(edge, drag.value)
        setDrag(null)
      },
      onKeyDown(event) {
        const change = { ArrowLeft: -step, ArrowRight: step, PageDown: -pageStep, PageUp: pageStep }[event.key]
        if (change === undefined) return
        event.preventDefault()
        onMove(edge, range[edge] + change)
      },
    }),
  }
}
