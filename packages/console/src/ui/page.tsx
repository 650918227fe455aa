import type { ReactElement, ReactNode } from 'react'
import styles from './page.module.css'
import { classes } from './classes.ts'
import ui from './ui.module.css'

interface PageParts {
  title: ReactNode
  about?: ReactNode
  actions?: ReactNode
  wide?: boolean
  children: ReactNode
}

export function Page({ title, about, actions, wide, children }: PageParts): ReactElement {
  return (
    <div className={wide ? classes(styles.page, styles.wide) : styles.page}>
      <header className={styles.header}>
        <div className={ui.grow}>
          <h1 tabIndex={-1}>{title}</h1>
          {about && <p>{about}</p>}
        </div>
        {actions && <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  )
}
