import type { ReactElement } from 'react'
import { classes } from './classes.ts'
import styles from './toggle.module.css'

export function Toggle({
  on,
  onChange,
  label,
  disabled,
}: {
  on: boolean
  onChange(on: boolean): void
  label: string
  disabled?: boolean
}): ReactElement {
  return (
    <button
      type="button"
      role="switch"
      className={on ? classes(styles.toggle, styles.enabled) : styles.toggle}
      aria-checked={on}
      aria-label={label}
      disabled={disabled}
      onClick={() => onChange(!on)}
    />
  )
}
