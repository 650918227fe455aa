/** A button on the map that is dragged, reached with Tab and moved with the arrow keys. */
import * as maplibre from '/assets/maplibre-gl.mjs'
import type { Position } from './geo.ts'

const STEP_PX = 10
const FINE_STEP_PX = 1

const ARROWS: Readonly<Record<string, Position>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}

export function createHandle(map: maplibre.Map, at: Position, label: string, className: string) {
  const element = document.createElement('button')
  element.type = 'button'
  element.className = className
  element.setAttribute('aria-label', label)
  const marker = new maplibre.Marker({ element, draggable: true }).setLngLat(at).addTo(map)
  element.setAttribute('role', 'button') // The library makes it an image.
  element.setAttribute('tabindex', '0')
  return { element, marker }
}

export function pointOf(marker: maplibre.Marker): Position {
  const { lng, lat } = marker.getLngLat()
  return [lng, lat]
}

interface KeyEvents {
  onMove(to: Position): void
  onRemove(): void
}

/** Arrows move it, in finer steps with Shift; Delete and Backspace remove it. */
export function onHandleKeys(map: maplibre.Map, element: HTMLElement, at: Position, { onMove, onRemove }: KeyEvents): void {
  element.addEventListener('keydown', (event) => {
    const step = ARROWS[event.key]
    if (step) {
      const pixels = event.shiftKey ? FINE_STEP_PX : STEP_PX
      const { x, y } = map.project(at)
      const { lng, lat } = map.unproject([x + step[0] * pixels, y + step[1] * pixels])
      onMove([lng, lat])
    } else if (event.key === 'Delete' || event.key === 'Backspace') onRemove()
    else return
    // The map would move, and other keys of the screen would act.
    event.preventDefault()
    event.stopPropagation()
  })
}
