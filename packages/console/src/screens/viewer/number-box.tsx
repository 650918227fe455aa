/** A number that counts when it is complete: on Enter, or when the box is left. */
import { useState, type ReactElement } from 'react'
import { classes } from '../../ui/classes.ts'
import fieldStyles from '../../ui/field.module.css'
import ui from '../../ui/ui.module.css'

export function NumberBox({ label, value, onCommit }: { label: string; value: number; onCommit(value: number): void }): ReactElement {
  const [text, setText] = useState(String(Number(value.toPrecision(4))))
  const commit = () => {
    const number = Number(text)
    if (text.trim() !== '' && Number.isFinite(number) && number !== value) onCommit(number)
  }
  return (
    <input
      className={classes(fieldStyles.input, fieldStyles.small, fieldStyles.numberBox, ui.numeric)}
      aria-label={label}
      inputMode="decimal"
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={commit}
      onKeyDown={(event) => event.key === 'Enter' && commit()}
    />
  )
}
