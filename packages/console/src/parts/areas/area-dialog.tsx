/** An area as numbers, as text or from a file. */
import { useState, type ReactElement } from 'react'
import { areaOf, boxOf, boxPolygon, circle, MAX_KEPT_VERTICES, type Box } from '../../map/geo.ts'
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
type Way = 'box' | 'point' | 'text'

export default function AreaDialog({ area, onClose, onArea }: { area?: Area; onClose(): void; onArea(area: Area): void }): ReactElement {
  const [way, setWay] = useState<Way>('box')
  const take = (shape: GeoJSON.Polygon) => {
    onArea(shape)
    sharedMap().fitGeometry(shape)
    onClose()
  }
  return (
    <Dialog title="Area" onClose={onClose}>
      <div className={classes(ui.flexColumn, ui.gap16)}>
        <Segmented
          label="How to give the area"
          value={way}
          onChange={setWay}
          options={[
            { value: 'box', text: 'Bounding box' },
            { value: 'point', text: 'Point and radius' },
            { value: 'text', text: 'Paste or upload' },
          ]}
        />
        {way === 'box' && <BoxForm box={boxOf(area) ?? sharedMap().viewBox()} onTake={take} />}
        {way === 'point' && <PointForm onTake={take} />}
        {way === 'text' && <TextForm text={area ? JSON.stringify(area) : ''} onTake={take} />}
      </div>
    </Dialog>
  )
}

const EDGES = ['West', 'South', 'East', 'North'] as const

function BoxForm({ box, onTake }: { box: Box; onTake(shape: GeoJSON.Polygon): void }): ReactElement {
  const [values, setValues] = useState(box.map((value) => value.toFixed(4)))
  const numbers = values.map(Number) as Box
  const isGood = numbers.every(Number.isFinite) && numbers[0] < numbers[2] && numbers[1] < numbers[3]
  return (
    <form
      className={classes(ui.flexColumn, ui.gap12)}
      onSubmit={(event) => {
        event.preventDefault()
        if (isGood) onTake(boxPolygon(numbers))
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
        {isGood ? areaText(areaOf(boxPolygon(numbers))) : 'West must be less than east, and south less than north.'}
      </p>
      <Button type="submit" variant="primary" disabled={!isGood}>
        Use this area
      </Button>
    </form>
  )
}

function PointForm({ onTake }: { onTake(shape: GeoJSON.Polygon): void }): ReactElement {
  const [at, setAt] = useState('')
  const [radius, setRadius] = useState('5')
  const [error, setError] = useState('')
  const send = async () => {
    const read = await readArea(at).catch(() => null)
    if (read?.kind !== 'place') return setError('Write it like -33.19, 137.99 or 33°11′S 137°59′E.')
    onTake(circle(read.at, Math.max(0.05, Number(radius) || 5) * 1000))
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
      <Field label="Radius, km" inputMode="decimal" value={radius} onChange={(event) => setRadius(event.target.value)} />
      <Button type="submit" variant="primary">
        Use this area
      </Button>
    </form>
  )
}

function TextForm({ text: initial, onTake }: { text: string; onTake(shape: GeoJSON.Polygon): void }): ReactElement {
  const [text, setText] = useState(initial)
  const [error, setError] = useState('')
  const send = async (from: string) => {
    try {
      const read = await readArea(from)
      if (!read) return setError('This is not GeoJSON, WKT, KML, GPX or coordinates.')
      if (read.kind === 'area' && read.geometry.coordinates[0]!.length > MAX_KEPT_VERTICES)
        return setError('It has more than 5,000 points. Leave some out first: ogr2ogr -simplify 0.001 smaller.geojson area.geojson')
      if (read.kind === 'area' && read.parts > 1) toast(`It has ${read.parts} parts; the one with the most corners is used`)
      onTake(read.kind === 'area' ? read.geometry : circle(read.at, 5_000))
    } catch (cause) {
      setError(cause instanceof AreaProblem ? cause.message : 'This cannot be read.')
    }
  }
  const open = async (file: File | undefined) => {
    if (!file) return
    if (/\.zip$|\.shp$/i.test(file.name)) return setError('A shapefile is not read here. Convert it: ogr2ogr area.geojson area.shp')
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
        <span className={fieldStyles.label}>GeoJSON, WKT, KML, GPX, four numbers or coordinates</span>
        <textarea
          className={classes(fieldStyles.textArea, ui.mono)}
          rows={6}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <label className={classes(ui.flexColumn, ui.gap6)}>
        <span className={fieldStyles.label}>Or a file</span>
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
