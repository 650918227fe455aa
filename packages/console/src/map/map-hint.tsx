/** A line over the map that says what to do or what happens. */
import type { ReactElement, ReactNode } from 'react'
import { classes } from '../ui/classes.ts'
import styles from './map-hint.module.css'
import slotStyles from './map-slot.module.css'
import ui from '../ui/ui.module.css'

export const MapHint = ({ children }: { children: ReactNode }): ReactElement => (
  <p className={classes(slotStyles.floating, styles.mapHint, ui.small)} role="status">
    {children}
  </p>
)
