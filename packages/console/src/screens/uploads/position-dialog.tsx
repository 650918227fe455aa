import { useState, type FormEvent, type ReactElement } from 'react'
import { Dialog } from '../../ui/dialog.tsx'
import { Button, Field } from '../../ui/kit.ts'
import { queue } from './upload-queue.ts'
import { classes } from '../../ui/classes.ts'
import ui from '../../ui/ui.module.css'

const EDGES = ['Left (west)', 'Bottom (south)', 'Right (east)', 'Top (north)'] as const
/** Named beside the field of the right edge. */
const RIGHT = 2

/** The position of an image without a georeference: its bounds in a coordinate reference system. */
export function PositionDialog({ name, fileKey, onClose }: { name: string; fileKey: string; onClose(): void }): ReactElement {
  const [crs, setCrs] = useState('EPSG:4326')
  const [edges, setEdges] = useState<readonly string[]>(EDGES.map(() => ''))
  const bounds = edges.map((edge) => (edge.trim() === '' ? Number.NaN : Number(edge)))
  const [left = 0, bottom = 0, right = 0, top = 0] = bounds
  const isFilled = bounds.every(Number.isFinite)
  const problem = isFilled && (left >= right || bottom >= top) ? 'Left must be less than right, and bottom less than top.' : undefined
  const send = (event: FormEvent) => {
    event.preventDefault()
    queue.setPosition(fileKey, { crs: crs.trim(), bounds })
    onClose()
  }
  return (
    <Dialog title={`Position of ${name}`} onClose={onClose}>
      <form className={classes(ui.flexColumn, ui.gap12)} onSubmit={send}>
        <p className={classes(ui.soft, ui.small)}>
          The file has no georeference. Enter the bounds of the image. The file is not uploaded again.
        </p>
        <Field
          label="Coordinate reference system"
          help="An EPSG code. Use EPSG:4326 for longitude and latitude."
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
            error={index === RIGHT ? problem : undefined}
            onChange={(event) => setEdges(edges.map((edge, at) => (at === index ? event.target.value : edge)))}
          />
        ))}
        <Button type="submit" variant="primary" disabled={!isFilled || problem !== undefined}>
          Set position
        </Button>
      </form>
    </Dialog>
  )
}
