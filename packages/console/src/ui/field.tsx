/** Fields of forms, each with its label. */
import { useId, type InputHTMLAttributes, type ReactElement, type ReactNode, type SelectHTMLAttributes } from 'react'
import { classes } from './classes.ts'
import styles from './field.module.css'
import ui from './ui.module.css'

interface FieldParts extends InputHTMLAttributes<HTMLInputElement> {
  label: ReactNode
  help?: ReactNode
  error?: string | undefined
  end?: ReactNode
}

const describedBy = (id: string, help: ReactNode, error: string | undefined) => (error ? `${id}-error` : help ? `${id}-help` : undefined)

/** The line below a field: what is wrong with its value, or else what it is for. */
function FieldHelp({ id, help, error }: { id: string; help: ReactNode; error: string | undefined }): ReactElement | null {
  if (error)
    return (
      <p className={styles.error} id={`${id}-error`} role="alert">
        {error}
      </p>
    )
  if (!help) return null
  return (
    <p className={styles.help} id={`${id}-help`}>
      {help}
    </p>
  )
}

export function Field({ label, help, error, end, className, ...input }: FieldParts): ReactElement {
  const id = useId()
  return (
    <div className={classes(styles.field, className)}>
      <label className={styles.label} htmlFor={id}>
        {label}
      </label>
      <div className={styles.withEnd}>
        <input
          id={id}
          className={styles.input}
          {...input}
          aria-invalid={error ? true : undefined}
          aria-describedby={describedBy(id, help, error)}
        />
        {end}
      </div>
      <FieldHelp id={id} help={help} error={error} />
    </div>
  )
}

interface ChoiceParts extends SelectHTMLAttributes<HTMLSelectElement> {
  label: ReactNode
  hideLabel?: boolean
  options: readonly { value: string; text: string; disabled?: boolean }[]
  help?: ReactNode
  error?: string | undefined
}

/** The browser's own list: it works with keys, fingers and screen readers as people know it. */
export function Choice({ label, hideLabel, options, help, error, className, ...select }: ChoiceParts): ReactElement {
  const id = useId()
  return (
    <div className={classes(styles.field, className)}>
      <label className={hideLabel ? ui.screenReaderOnly : styles.label} htmlFor={id}>
        {label}
      </label>
      <select
        id={id}
        className={classes(styles.input, styles.select)}
        {...select}
        aria-invalid={error ? true : undefined}
        aria-describedby={describedBy(id, help, error)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value} disabled={option.disabled}>
            {option.text}
          </option>
        ))}
      </select>
      <FieldHelp id={id} help={help} error={error} />
    </div>
  )
}

export function Check({
  checked,
  onChange,
  children,
  label,
}: {
  checked: boolean
  onChange(on: boolean): void
  children?: ReactNode
  label?: string
}): ReactElement {
  return (
    <label className={styles.check}>
      <input type="checkbox" checked={checked} aria-label={label} onChange={(event) => onChange(event.target.checked)} />
      {children && <span>{children}</span>}
    </label>
  )
}
