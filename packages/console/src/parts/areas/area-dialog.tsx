/** Enter an area as a bounding box, a point and radius, text or a file. */
import { useState, type ReactElement } from 'react'
import { areaOf, boxOf, boxPolygon, circle, type Box } from '../../map/geo.ts'
import { AreaProblem, readArea } from '../../map/read-area.ts'
import { sharedMap } from '../../map/shared-map.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { area as areaText } from '../../ui/format.ts'
import { Button, Field, Note, Segmented } from '../../ui/kit.ts'
import { toast } from '../../ui/toasts.tsx'
import { classes } from '../../ui/classes.ts'
import fieldStyles from '../../ui/field.module.css'
import ui from '../../ui/ui.module.css'

type Area = GeoJSON.Polygon | null
type Method = 'box' | 'point' | 'text'

export default function AreaDialog({ area, onClose, onArea }: { area?: Area; onClose(): void; onArea(area: Area): void }): ReactElement {
  const [method, setMethod] = useState<Method>('box')
  const use = (shape: GeoJSON.Polygon) => {
    onArea(shape)
    sharedMap().fitGeometry(shape)
    onClose()
  }
  return (
    <Dialog title="Area" onClose={onClose}>
      <div className={classes(ui.flexColumn, ui.gap16)}>
        <Segmented
          label="Area as"
          value={method}
          onChange={setMethod}
          options={[
            { value: 'box', text: 'Bounding box' },
            { value: 'point', text: 'Point and radius' },
            { value: 'text', text: 'Paste or upload' },
          ]}
        />
        {method === 'box' && <BoxForm box={boxOf(area) ?? sharedMap().viewBox()} onUse={use} />}
        {method === 'point' && <PointForm onUse={use} />}
        {method === 'text' && <TextForm text={area ? JSON.stringify(area) : ''} onUse={use} />}
      </div>
    </Dialog>
  )
}

const EDGES = ['West', 'South', 'East', 'North'] as const

function BoxForm({ box, onUse }: { box: Box; onUse(shape: GeoJSON.Polygon): void }): ReactElement {
  const [values, setValues] = useState(box.map((value) => value.toFixed(4)))
  const numbers = values.map(Number) as Box
  const isValid = numbers.every(Number.isFinite) && numbers[0] < numbers[2] && numbers[1] < numbers[3]
  return (
    <form
      className={classes(ui.flexColumn, ui.gap12)}
      onSubmit={(event) => {
        event.preventDefault()
        if (isValid) onUse(boxPolygon(numbers))
      }}
    >
      <div className={ui.pair}>
        {EDGES.map((edge, index) => (
          <Field
            key={edge}
            label={edge}
            inputMode="decimal"
            value={values[index]}
            onChange={(event) => setValues(values.with(index, event.target.value))}
          />
        ))}
      </div>
      <p className={classes(ui.soft, ui.small)}>
        {isValid ? areaText(areaOf(boxPolygon(numbers))) : 'West must be less than east, and south less than north.'}
      </p>
      <Button type="submit" variant="primary" disabled={!isValid}>
        Use this area
      </Button>
    </form>
  )
}

function PointForm({ onUse }: { onUse(shape: GeoJSON.Polygon): void }): ReactElement {
  const [at, setAt] = useState('')
  const [radius, setRadius] = useState('5')
  const [error, setError] = useState('')
  const send = async () => {
    const read = await readArea(at).catch(() => null)
    if (read?.kind !== 'place') return setError('Enter coordinates such as -33.19, 137.99 or 33°11′S 137°59′E.')
    onUse(circle(read.at, Math.max(0.05, Number(radius) || 5) * 1000))
  }
  return (
    <form
      className={classes(ui.flexColumn, ui.gap12)}
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <Field
        label="Latitude and longitude"
        required
        value={at}
        error={error || undefined}
        onChange={(event) => setAt(event.target.value)}
        placeholder="-33.19, 137.99"
      />
      <Field label="Radius (km)" inputMode="decimal" value={radius} onChange={(event) => setRadius(event.target.value)} />
      <Button type="submit" variant="primary">
        Use this area
      </Button>
    </form>
  )
}

function TextForm({ text: initial, onUse }: { text: string; onUse(shape: GeoJSON.Polygon): void }): ReactElement {
  const [text, setText] = useState(initial)
  const [error, setError] = useState('')
  const send = async (from: string) => {
    try {
      const read = await readArea(from)
      if (!read) return setError('Unknown format. Paste GeoJSON, WKT, KML, GPX or coordinates.')
      if (read.kind === 'area' && read.parts > 1) toast(`Using the largest of ${read.parts} polygons`)
      onUse(read.kind === 'area' ? read.geometry : circle(read.at, 5_000))
    } catch (cause) {
      setError(cause instanceof AreaProblem ? cause.message : 'The text could not be read.')
    }
  }
  const open = async (file: File | undefined) => {
    if (!file) return
    if (/\.zip$|\.shp$/i.test(file.name)) return setError('Shapefiles are not supported. Convert it: ogr2ogr area.geojson area.shp')
    await send(await file.text())
  }
  return (
    <form
      className={classes(ui.flexColumn, ui.gap12)}
      onSubmit={(event) => {
        event.preventDefault()
        void send(text)
      }}
    >
      <label className={classes(ui.flexColumn, ui.gap6)}>
        <span className={fieldStyles.label}>GeoJSON, WKT, KML, GPX, bounding box or coordinates</span>
        <textarea
          className={classes(fieldStyles.textArea, ui.mono)}
          rows={6}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <label className={classes(ui.flexColumn, ui.gap6)}>
        <span className={fieldStyles.label}>Or upload a file</span>
        <input type="file" accept=".json,.geojson,.kml,.gpx,.wkt,.txt" onChange={(event) => void open(event.target.files?.[0])} />
      </label>
      {error && (
        <Note tone="bad" icon="warn">
          {error}
        </Note>
      )}
      <Button type="submit" variant="primary" disabled={text.trim() === ''}>
        Use this area
      </Button>
    </form>
  )
}
