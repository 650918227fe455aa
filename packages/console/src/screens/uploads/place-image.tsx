import { useState, type FormEvent, type ReactElement } from 'react'
import { Dialog } from '../../ui/dialog.tsx'
import { Button, Field } from '../../ui/kit.ts'
import { setPosition } from './upload-work.ts'
import { classes } from '../../ui/classes.ts'
import ui from '../../ui/ui.module.css'

const EDGES = ['Left (west)', 'Bottom (south)', 'Right (east)', 'Top (north)'] as const

/** Where an image lies that does not say so itself: its edges in a coordinate reference system. */
export function PlaceImage({ name, fileKey, onClose }: { name: string; fileKey: string; onClose(): void }): ReactElement {
  const [crs, setCrs] = useState('EPSG:4326')
  const [edges, setEdges] = useState<readonly string[]>(EDGES.map(() => ''))
  const bounds = edges.map((edge) => (edge.trim() === '' ? Number.NaN : Number(edge)))
  const [left = 0, bottom = 0, right = 0, top = 0] = bounds
  const isFilled = bounds.every(Number.isFinite)
  const wrong = isFilled && (left >= right || bottom >= top) ? 'Left must be less than right, and bottom less than top.' : undefined
  const send = (event: FormEvent) => {
    event.preventDefault()
    setPosition(fileKey, { crs: crs.trim(), bounds })
    onClose()
  }
  return (
    <Dialog title={`Position of ${name}`} onClose={onClose}>
      <form className={classes(ui.flexColumn, ui.gap12)} onSubmit={send}>
        <p className={classes(ui.soft, ui.small)}>
          The file does not say where the image lies. Give its outer edges; it is not uploaded again.
        </p>
        <Field
          label="Coordinate reference system"
          help="An EPSG code. Longitude and latitude are EPSG:4326."
          required
          pattern="(EPSG:|epsg:)?[0-9]{4,6}"
          value={crs}
          onChange={(event) => setCrs(event.target.value)}
        />
        {EDGES.map((label, index) => (
          <Field
            key={label}
            label={label}
            required
            inputMode="decimal"
            value={edges[index]}
            error={index === 2 ? wrong : undefined}
            onChange={(event) => setEdges(edges.map((edge, at) => (at === index ? event.target.value : edge)))}
          />
        ))}
        <Button type="submit" variant="primary" disabled={!isFilled || wrong !== undefined}>
          Place the image
        </Button>
      </form>
    </Dialog>
  )
}
