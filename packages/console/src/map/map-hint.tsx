/** Lines over the map that say what to do, what happens, or why nothing is shown. */
import type { ReactElement, ReactNode } from 'react'
import { classes } from '../ui/classes.ts'
import { Icon } from '../ui/icons.tsx'
import styles from './map-hint.module.css'
import slotStyles from './map-slot.module.css'
import ui from '../ui/ui.module.css'

export const MapHint = ({ children }: { children: ReactNode }): ReactElement => (
  <p className={classes(slotStyles.floating, styles.mapHint, ui.small)} role="status">
    {children}
  </p>
)

export const MapFailure = ({ children }: { children: ReactNode }): ReactElement => (
  <p className={classes(slotStyles.floating, styles.mapHint, styles.failure, ui.small)} role="alert">
    <Icon name="warn" />
    <span>{children}</span>
  </p>
)
