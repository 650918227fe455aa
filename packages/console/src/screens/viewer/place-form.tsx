import { useState, type ReactElement } from 'react'
import type { Position } from '../../map/geo.ts'
import { readArea } from '../../map/read-area.ts'
import { Button, Field } from '../../ui/kit.ts'
import fieldStyles from '../../ui/field.module.css'

/** A place by its coordinates. */
export function PlaceForm({ onPlace }: { onPlace(at: Position): void }): ReactElement {
  const [text, setText] = useState('')
  const [error, setError] = useState('')
  const send = async () => {
    const read = await readArea(text).catch(() => null)
    if (read?.kind !== 'place') return setError('Enter coordinates such as -33.19, 137.99.')
    setError('')
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
            Pin
          </Button>
        }
      />
    </form>
  )
}
