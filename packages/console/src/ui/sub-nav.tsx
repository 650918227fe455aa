import { Link, type RegisteredRouter } from '@tanstack/react-router'
import type { ReactElement, ReactNode } from 'react'
import styles from './sub-nav.module.css'

/** Addresses of the console without parameters. */
export type PlainPath = Exclude<keyof RegisteredRouter['routesByPath'], `${string}$${string}`>

interface SubLink {
  to: PlainPath
  text: ReactNode
  /** Pages below it belong to it. */
  deep?: boolean
}

export function SubNav({ label, links }: { label: string; links: readonly SubLink[] }): ReactElement {
  return (
    <nav className={styles.subNav} aria-label={label}>
      {links.map(({ to, text, deep }) => (
        <Link
          key={to}
          to={to}
          activeOptions={{ exact: !deep, includeSearch: false }}
          activeProps={{ className: styles.selected, 'aria-current': 'page' }}
        >
          {text}
        </Link>
      ))}
    </nav>
  )
}
