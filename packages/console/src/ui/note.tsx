import type { ReactElement, ReactNode } from 'react'
import { classes } from './classes.ts'
import { Icon, type IconName } from './icons.tsx'
import styles from './note.module.css'
import ui from './ui.module.css'

const TONES = { warn: styles.warning, bad: styles.danger, ok: styles.success, '': undefined }

export function Note({
  tone = '',
  icon = 'info',
  children,
  actions,
}: {
  tone?: 'warn' | 'bad' | 'ok' | ''
  icon?: IconName
  children: ReactNode
  actions?: ReactNode
}): ReactElement {
  return (
    <div className={classes(styles.note, TONES[tone])} role={tone === 'bad' ? 'alert' : undefined}>
      <Icon name={icon} />
      <div className={ui.grow}>{children}</div>
      {actions && <div className={ui.flexRow}>{actions}</div>}
    </div>
  )
}
