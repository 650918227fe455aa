/** A panel beside a button. The browser shows it above everything, closes it on Esc and on a click elsewhere, and returns the focus. */
import { useEffect, useId, useRef, useState, type ReactElement, type ReactNode, type Ref, type ToggleEvent } from 'react'
import { classes } from './classes.ts'
import { placeBeside, type Alignment } from './place-beside.ts'
import styles from './popover.module.css'

/** What a button needs to open a popover. */
export interface TriggerProps {
  ref: Ref<HTMLButtonElement>
  popoverTarget: string
  'aria-expanded': boolean
  'aria-haspopup': 'dialog' | 'menu'
}

interface AnchoredOptions {
  align: Alignment
  /** The panel is as wide as its button. */
  isAsWide?: boolean | undefined
  /** Called when the panel is shown, with the panel. */
  onShown(panel: HTMLElement): void
}

/** A button and the panel it opens, for popovers and menus. */
export function useAnchored({ align, isAsWide = false, onShown }: AnchoredOptions) {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const panel = useRef<HTMLDivElement>(null)
  const [isOpen, setIsOpen] = useState(false)
  useEffect(() => {
    if (!isOpen) return
    const element = panel.current!
    const place = () => {
      const size = { width: element.offsetWidth, height: element.offsetHeight }
      const view = { width: innerWidth, height: innerHeight }
      const { left, top } = placeBeside(button.current!.getBoundingClientRect(), size, view, align)
      Object.assign(element.style, { left: `${left}px`, top: `${top}px` })
    }
    // It reports before the browser paints: when the panel is shown, and when its content grows.
    const observer = new ResizeObserver(place)
    observer.observe(element)
    addEventListener('resize', place)
    addEventListener('scroll', place, true)
    return () => {
      observer.disconnect()
      removeEventListener('resize', place)
      removeEventListener('scroll', place, true)
    }
  }, [isOpen, align])
  return {
    isOpen,
    show: () => panel.current!.showPopover(),
    hide: () => panel.current!.hidePopover(),
    trigger: { ref: button, popoverTarget: id, 'aria-expanded': isOpen },
    panelProps: {
      id,
      ref: panel,
      popover: 'auto' as const,
      onBeforeToggle: (event: ToggleEvent) => {
        if (event.target !== event.currentTarget || event.newState !== 'open') return
        if (isAsWide) panel.current!.style.width = `${button.current!.offsetWidth}px`
        setIsOpen(true)
      },
      onToggle: (event: ToggleEvent) => {
        if (event.target !== event.currentTarget) return
        if (event.newState === 'open') onShown(panel.current!)
        else setIsOpen(false)
      },
    },
  }
}

const FOCUSABLE = 'a[href], button:not([disabled]), input:not([disabled]), select:not([disabled]), textarea:not([disabled]), [tabindex="0"]'

interface PopoverParts {
  /** Its name for screen readers. */
  label: string
  button(trigger: TriggerProps): ReactNode
  align?: Alignment
  className?: string | undefined
  /** Rendered while it is open. */
  children(hide: () => void): ReactNode
}

export function Popover({ label, button, align = 'start', className, children }: PopoverParts): ReactElement {
  const { isOpen, hide, trigger, panelProps } = useAnchored({
    align,
    onShown: (panel) => (panel.querySelector<HTMLElement>(FOCUSABLE) ?? panel).focus({ preventScroll: true }),
  })
  return (
    <>
      {button({ ...trigger, 'aria-haspopup': 'dialog' })}
      <div {...panelProps} role="dialog" aria-label={label} tabIndex={-1} className={classes(styles.anchored, styles.popover, className)}>
        {isOpen && children(hide)}
      </div>
    </>
  )
}
