/** Where a panel goes beside its button: below it, or above where there is more space, and always within the window. */
interface Box {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

interface Size {
  readonly width: number
  readonly height: number
}

export type Alignment = 'start' | 'end'

const GAP_PX = 6
/** Kept free at the edges of the window. */
const MARGIN_PX = 8

/** Where the limits cross, the lower one counts: the beginning of a panel is always seen. */
const within = (value: number, low: number, high: number) => Math.max(low, Math.min(value, high))

/** The panel's left and top in the window, which is at least as high as the panel. It covers its button if no side has enough space. */
export function placeBeside(button: Box, panel: Size, view: Size, align: Alignment): { left: number; top: number } {
  const below = view.height - MARGIN_PX - (button.top + button.height + GAP_PX)
  const above = button.top - GAP_PX - MARGIN_PX
  const isAbove = panel.height > below && above > below
  const left = align === 'start' ? button.left : button.left + button.width - panel.width
  const top = isAbove ? button.top - GAP_PX - panel.height : button.top + button.height + GAP_PX
  return {
    left: within(left, MARGIN_PX, view.width - MARGIN_PX - panel.width),
    top: within(top, MARGIN_PX, view.height - MARGIN_PX - panel.height),
  }
}
