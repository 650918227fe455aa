import type { ReactElement, ReactNode } from 'react'
import styles from './segmented.module.css'
import { classes } from './classes.ts'

interface SegmentedParts<T extends string> {
  label: string
  value: T
  options: readonly { value: NoInfer<T>; text: ReactNode }[]
  onChange(value: NoInfer<T>): void
  wide?: boolean
}

export function Segmented<T extends string>({ label, value, options, onChange, wide }: SegmentedParts<T>): ReactElement {
  return (
    <div className={wide ? classes(styles.segmented, styles.wide) : styles.segmented} role="group" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          className={option.value === value ? styles.selected : undefined}
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
        >
          {option.text}
        </button>
      ))}
    </div>
  )
}
