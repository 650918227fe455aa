import type { ReactElement, ReactNode } from 'react'
import styles from './card.module.css'
import { classes } from './classes.ts'
import ui from './ui.module.css'

interface CardParts {
  title?: ReactNode
  aside?: ReactNode
  children?: ReactNode
  flush?: boolean
  className?: string
}

export function Card({ title, aside, children, flush, className }: CardParts): ReactElement {
  return (
    <section className={classes(styles.card, className)}>
      {title !== undefined && (
        <div className={styles.header}>
          <h2 className={ui.grow}>{title}</h2>
          {aside}
        </div>
      )}
      {flush ? children : <div className={styles.body}>{children}</div>}
    </section>
  )
}
