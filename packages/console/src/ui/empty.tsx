/** Instead of content: why there is none, and the next step. */
import type { ReactElement, ReactNode } from 'react'
import { Icon, type IconName } from './icons.tsx'
import { classes } from './classes.ts'
import styles from './states.module.css'
import ui from './ui.module.css'

interface EmptyParts {
  icon?: IconName
  title: string
  children?: ReactNode
  actions?: ReactNode
  tone?: '' | 'bad' | 'warn'
}

const DISC_TONES = { '': undefined, bad: ui.danger, warn: ui.warning }

export function Empty({ icon = 'search', title, children, actions, tone = '' }: EmptyParts): ReactElement {
  return (
    <div className={styles.empty}>
      <span className={classes(ui.disc, DISC_TONES[tone])}>
        <Icon name={icon} size={20} />
      </span>
      <b>{title}</b>
      {children && <p className={ui.soft}>{children}</p>}
      {actions && <div className={styles.actions}>{actions}</div>}
    </div>
  )
}
