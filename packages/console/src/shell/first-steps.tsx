import { Link } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { useFirstSteps } from '../state/first-steps.ts'
import { classes } from '../ui/classes.ts'
import { Icon } from '../ui/icons.tsx'
import ui from '../ui/ui.module.css'
import styles from './shell.module.css'

/** The way back to the checklist, on every screen until it is completed or dismissed. */
export function FirstSteps(): ReactElement | null {
  const { done, steps, isDismissed } = useFirstSteps(false)
  if (!done || isDismissed || done.size === steps.length) return null
  return (
    <Link to="/welcome" className={styles.wallet} title={`${done.size} of ${steps.length} first steps done`}>
      <Icon name="check" />
      <span className={styles.stepsLabel}>First steps</span>{' '}
      <span className={classes(ui.numeric, ui.soft)}>
        {done.size}/{steps.length}
      </span>
    </Link>
  )
}
