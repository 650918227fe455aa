import { useState, type ReactElement } from 'react'
import type { Position } from '../../map/geo.ts'
import { readArea } from '../../map/read-area.ts'
import { Button, Field } from '../../ui/kit.ts'
import fieldStyles from '../../ui/field.module.css'

interface PlaceFormParts {
  onPlace(at: Position): void
  action?: string
  /** Ready for the next place. */
  isCleared?: boolean
}

/** A place by its coordinates. */
export function PlaceForm({ onPlace, action = 'Pin', isCleared = false }: PlaceFormParts): ReactElement {
  const [text, setText] = useState('')
  const [error, setError] = useState('')
  const send = async () => {
    const read = await readArea(text).catch(() => null)
    if (read?.kind !== 'place') return setError('Enter coordinates such as -33.19, 137.99.')
    setError('')
    if (isCleared) setText('')
    onPlace(read.at)
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <Field
        label="Latitude, longitude"
        value={text}
        error={error || undefined}
        onChange={(event) => setText(event.target.value)}
        end={
          <Button size="s" type="submit" className={fieldStyles.inField}>
            {action}
          </Button>
        }
      />
    </form>
  )
}
