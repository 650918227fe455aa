/** Puts the preview of a scene, or of a group, on the map. */
import type { ReactElement } from 'react'
import { classes } from '../../ui/classes.ts'
import { Icon } from '../../ui/icons.tsx'
import styles from './preview-button.module.css'

interface PreviewButtonParts {
  label: string
  title: string
  /** Whether it is on the map; absent for a group, which is only added. */
  isOn?: boolean
  className?: string | undefined
  onClick(): void
}

export const PreviewButton = ({ label, title, isOn, className, onClick }: PreviewButtonParts): ReactElement => (
  <button
    type="button"
    className={classes(styles.previewButton, className)}
    aria-pressed={isOn}
    aria-label={label}
    title={title}
    onClick={onClick}
  >
    <Icon name="eye" />
  </button>
)
