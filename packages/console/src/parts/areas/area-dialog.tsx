/** Enter an area as a bounding box, a point and radius, text or a file. */
import { useState, type ReactElement } from 'react'
import { areaOf, boxOf, boxPolygon, circle, type AreaShape, type Box, type Position } from '../../map/geo.ts'
import { areaFrom, AreaProblem, readArea, type ReadArea } from '../../map/read-area.ts'
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

interface AreaDialogParts {
  area?: AreaShape | null
  onClose(): void
  onArea(area: Area): void
  /** Takes all polygons of a file or text; without it, the largest is used. */
  onPolygons?: ((polygons: Position[][][]) => void) | undefined
}

export default function AreaDialog({ area, onClose, onArea, onPolygons }: AreaDialogParts): ReactElement {
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
        {method === 'text' && (
          <TextForm
            text={area ? JSON.stringify(area) : ''}
            onRead={(read) => {
              if (read.kind === 'place') return use(circle(read.at, 5_000))
              if (!onPolygons) {
                if (read.parts > 1) toast(`Using the largest of ${read.parts} polygons`)
                return use(read.geometry)
              }
              onPolygons(read.polygons)
              sharedMap().fitGeometry({ type: 'MultiPolygon', coordinates: read.polygons })
              onClose()
            }}
          />
        )}
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

/** Areas of all layers of a KMZ; a single text can also be a place. */
async function readTexts(texts: readonly string[]): Promise<ReadArea | null> {
  if (texts.length === 1) return await readArea(texts[0]!)
  const layers = await Promise.all(texts.map((text) => readArea(text).catch(() => null)))
  return areaFrom(layers.flatMap((layer) => (layer?.kind === 'area' ? layer.polygons : [])))
}

/** The class is in a module that is loaded with the first file. */
const isFileProblem = (cause: unknown): cause is Error => cause instanceof Error && cause.name === 'FileProblem'

const ACCEPTED = '.json,.geojson,.kml,.kmz,.gpx,.wkt,.txt,.zip,.shp,.gpkg'

function TextForm({ text: initial, onRead }: { text: string; onRead(read: ReadArea): void }): ReactElement {
  const [text, setText] = useState(initial)
  const [error, setError] = useState('')
  const [isBusy, setBusy] = useState(false)
  const attempt = async (read: () => Promise<ReadArea | null>) => {
    setError('')
    setBusy(true)
    try {
      const found = await read()
      if (found) onRead(found)
      else setError('Unknown format. Use GeoJSON, WKT, KML, KMZ, GPX, a zipped shapefile, a GeoPackage or coordinates.')
    } catch (cause) {
      setError(cause instanceof AreaProblem || isFileProblem(cause) ? cause.message : 'The text could not be read.')
    } finally {
      setBusy(false)
    }
  }
  const send = (from: string) => attempt(async () => await readArea(from))
  const open = async (file: File | undefined) => {
    if (!file) return
    await attempt(async () => {
      const { openFile } = await import('../../map/files/open-file.ts')
      const content = await openFile(file)
      if ('texts' in content) return await readTexts(content.texts)
      const read = areaFrom(content.polygons)
      if (content.notice) toast(content.notice)
      return read
    })
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
        <input type="file" accept={ACCEPTED} aria-busy={isBusy} onChange={(event) => void open(event.target.files?.[0])} />
        <span className={fieldStyles.help}>Zipped shapefile, KML, KMZ, GeoPackage, GeoJSON, GPX or WKT, up to 25 MB.</span>
      </label>
      {error && (
        <Note tone="bad" icon="warn">
          {error}
        </Note>
      )}
      <Button type="submit" variant="primary" busy={isBusy} disabled={text.trim() === ''}>
        Use this area
      </Button>
    </form>
  )
}
