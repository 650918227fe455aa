/** A button with a list of commands: arrow keys, Home and End move between them, a letter finds one, Esc and Tab close. */
import { createContext, use, type KeyboardEvent, type ReactElement, type ReactNode } from 'react'
import { classes } from './classes.ts'
import { Icon, type IconName } from './icons.tsx'
import styles from './menu.module.css'
import { nextItem } from './next-item.ts'
import type { Alignment } from './place-beside.ts'
import { useAnchored, type TriggerProps } from './popover.tsx'
import popoverStyles from './popover.module.css'

interface MenuTriggerProps extends TriggerProps {
  onKeyDown(event: KeyboardEvent): void
}

interface MenuParts {
  button(trigger: MenuTriggerProps): ReactNode
  children: ReactNode
  align?: Alignment
  /** As wide as its button. */
  isAsWide?: boolean
  /** Its name for screen readers. */
  label: string
}

const HideMenu = createContext<() => void>(() => undefined)

const itemsOf = (menu: HTMLElement) => [...menu.querySelectorAll<HTMLElement>('[role=menuitem]')]

export function Menu({ button, children, align = 'start', isAsWide, label }: MenuParts): ReactElement {
  const { isOpen, show, hide, trigger, panelProps } = useAnchored({
    align,
    isAsWide,
    onShown: (menu) => itemsOf(menu)[0]?.focus({ preventScroll: true }),
  })
  const onMenuKey = (event: KeyboardEvent<HTMLElement>) => {
    if (event.key === 'Tab') return hide()
    const items = itemsOf(event.currentTarget)
    const index = nextItem(
      items.map(({ textContent }) => textContent),
      items.indexOf(document.activeElement as HTMLElement),
      event.key,
    )
    if (index === null || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    // Letters are shortcuts elsewhere on the page.
    event.stopPropagation()
    items[index]?.focus()
  }
  const onButtonKey = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowDown' || isOpen) return
    event.preventDefault()
    show()
  }
  return (
    <>
      {button({ ...trigger, 'aria-haspopup': 'menu', onKeyDown: onButtonKey })}
      <div {...panelProps} role="menu" aria-label={label} className={classes(popoverStyles.anchored, styles.menu)} onKeyDown={onMenuKey}>
        <HideMenu value={hide}>{isOpen && children}</HideMenu>
      </div>
    </>
  )
}

export function MenuItem({ icon, onClick, children }: { icon?: IconName; onClick(): void; children: ReactNode }): ReactElement {
  const hide = use(HideMenu)
  return (
    <button
      type="button"
      role="menuitem"
      tabIndex={-1}
      className={styles.item}
      onClick={() => {
        // First, so that the focus is back at the button before a dialog opens and remembers it.
        hide()
        onClick()
      }}
      onMouseMove={(event) => event.currentTarget.focus({ preventScroll: true })}
    >
      {icon && <Icon name={icon} />}
      <span>{children}</span>
    </button>
  )
}

export function MenuLabel({ children }: { children: ReactNode }): ReactElement {
  return <div className={styles.label}>{children}</div>
}

export function MenuDivider(): ReactElement {
  return <div role="separator" className={styles.divider} />
}
