/** Shows real imagery of a place: its name or coordinates, the browser's location, or the area of the demo. */
import { useNavigate } from '@tanstack/react-router'
import { useState, type FormEvent, type ReactElement } from 'react'
import { classes } from '../../ui/classes.ts'
import { Button, Field } from '../../ui/kit.ts'
import fieldStyles from '../../ui/field.module.css'
import ui from '../../ui/ui.module.css'

/** Where the demo's scenes lie. */
const DEMO_AREA = '48.2, 2.3'
const LOCATION_TIMEOUT_MS = 20_000
/** About ten metres. */
const DECIMALS = 4

export function PlaceForm({ problem }: { problem?: string | undefined }): ReactElement {
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const [refusal, setRefusal] = useState<string | undefined>()
  const [isLocating, setLocating] = useState(false)
  const show = (place: string) => {
    setRefusal(undefined)
    void navigate({ to: '/explore', search: { place } })
  }
  const send = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() === '') setRefusal('Enter a city, or latitude and longitude.')
    else show(text.trim())
  }
  const locate = () => {
    setLocating(true)
    navigator.geolocation.getCurrentPosition(
      ({ coords }) => {
        setLocating(false)
        show(`${coords.latitude.toFixed(DECIMALS)}, ${coords.longitude.toFixed(DECIMALS)}`)
      },
      () => {
        setLocating(false)
        setRefusal('The browser did not provide your location. Enter a city, or latitude and longitude.')
      },
      { timeout: LOCATION_TIMEOUT_MS },
    )
  }
  return (
    <form onSubmit={send} className={classes(ui.flexColumn, ui.gap8)}>
      <Field
        label="Show real imagery of"
        help="A city, or latitude and longitude"
        placeholder="Lisbon"
        autoComplete="off"
        value={text}
        error={refusal ?? problem}
        onChange={(event) => setText(event.target.value)}
        end={
          <Button type="submit" size="s" variant="primary" className={fieldStyles.inField}>
            Show
          </Button>
        }
      />
      <div className={classes(ui.flexRow, ui.gap6, ui.wrap)}>
        {'geolocation' in navigator && (
          <Button size="s" icon="pin" busy={isLocating} onClick={locate}>
            Use my location
          </Button>
        )}
        <Button size="s" onClick={() => show(DEMO_AREA)}>
          Demo area
        </Button>
      </div>
    </form>
  )
}
