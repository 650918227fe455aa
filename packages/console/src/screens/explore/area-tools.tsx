/** Making an area: draw it, type it, paste or drop it. The numbers are there while one works. */
import { useEffect, useRef, useState, type ReactElement } from 'react'
import { areaOf, boxOf, boxPolygon, circle, MAX_AREA_M2, MAX_KEPT_VERTICES, MAX_VERTICES, simplify, type Box } from '../../map/geo.ts'
import type { DrawMode } from '../../map/draw.ts'
import { AreaProblem, readArea } from '../../map/read-area.ts'
import { theStage } from '../../map/stage.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { area as areaText } from '../../ui/format.ts'
import { Icon, type IconName } from '../../ui/icons.tsx'
import { Button, Field, Note, Segmented } from '../../ui/kit.tsx'
import { toast } from '../../ui/toasts.tsx'

type Area = GeoJSON.Polygon | null

const TOOLS: readonly { mode: DrawMode; icon: IconName; text: string; letter: string }[] = [
  { mode: 'polygon', icon: 'poly', text: 'Draw a polygon (P)', letter: 'p' },
  { mode: 'rectangle', icon: 'rect', text: 'Draw a rectangle (R)', letter: 'r' },
  { mode: 'circle', icon: 'pin', text: 'Draw a circle (C)', letter: 'c' },
]

export function AreaTools({ onArea, children }: { onArea(area: Area): void; children?: ReactElement | null }): ReactElement {
  const [mode, setMode] = useState<DrawMode | null>(null)
  const [dialog, setDialog] = useState(false)
  const stop = useRef<(() => void) | null>(null)
  const begin = async (next: DrawMode) => {
    stop.current?.()
    stop.current = null
    if (next === mode) return setMode(null)
    setMode(next)
    const { drawArea } = await import('../../map/draw.ts')
    stop.current = drawArea(theStage(), next, (shape) => {
      stop.current = null
      setMode(null)
      if (shape) onArea(shape)
    })
  }
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !(event.target as HTMLElement).closest('.mapw')) return
      if (event.key === 'Escape') {
        stop.current?.()
        stop.current = null
        return setMode(null)
      }
      if (event.key === 'i') return setDialog(true)
      const tool = TOOLS.find(({ letter }) => letter === event.key)
      if (tool) void begin(tool.mode)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  })
  useEffect(() => () => stop.current?.(), [])
  return (
    <>
      <div className="float tools h map-tools" role="toolbar" aria-label="Area">
        {TOOLS.map(({ mode: one, icon, text }) => (
          <button
            key={one}
            type="button"
            className={mode === one ? 'on' : ''}
            aria-pressed={mode === one}
            aria-label={text}
            title={text}
            onClick={() => void begin(one)}
          >
            <Icon name={icon} />
          </button>
        ))}
        <hr />
        <button
          type="button"
          aria-label="Type, paste or open an area (I)"
          title="Type, paste or open an area (I)"
          onClick={() => setDialog(true)}
        >
          <Icon name="up" />
        </button>
        {children}
      </div>
      {mode && (
        <p className="float draw-hint sm" role="status">
          {mode === 'polygon'
            ? 'Click corners; click the first one or press Enter to close. Esc gives up.'
            : 'Click twice: one corner or the centre, then how far. Esc gives up.'}
        </p>
      )}
      {dialog && <AreaDialog onClose={() => setDialog(false)} onArea={onArea} />}
    </>
  )
}

export function AreaBox({ area, onArea, onFit }: { area: Area; onArea(area: Area): void; onFit(): void }): ReactElement {
  const [dialog, setDialog] = useState(false)
  const size = areaOf(area)
  const corners = area ? area.coordinates[0]!.length - 1 : 0
  const tooMany = corners > MAX_VERTICES
  return (
    <>
      <div className="aoi">
        <i className="sq" />
        {area ? (
          <>
            <button type="button" className="grow as-text" onClick={onFit}>
              <b>Your area</b>
              <br />
              <span className={`sm ${size > MAX_AREA_M2 || tooMany ? 'bad' : 'soft'}`}>
                {areaText(size)}, {corners} of {MAX_VERTICES} points
              </span>
            </button>
            <Button look="quiet" icon="poly" label="Edit the area as text" onClick={() => setDialog(true)} />
            <Button look="quiet" icon="x" label="Remove the area" onClick={() => onArea(null)} />
          </>
        ) : (
          <>
            <div className="grow">
              <b>No area yet</b>
              <br />
              <span className="soft sm">The map in view is searched.</span>
            </div>
            <Button size="s" onClick={() => onArea(boxPolygon(theStage().viewBox()))}>
              Use view
            </Button>
            <Button size="s" onClick={() => setDialog(true)}>
              Type
            </Button>
          </>
        )}
      </div>
      {area && size > MAX_AREA_M2 && (
        <Note tone="warn" icon="warn">
          At most 50,000 km² are searched at once. Draw a smaller area.
        </Note>
      )}
      {area && tooMany && (
        <Note
          tone="warn"
          icon="warn"
          actions={
            <Button size="s" onClick={() => onArea(simplify(area, 400))}>
              Simplify to 400 points
            </Button>
          }
        >
          {corners} points are too many.
        </Note>
      )}
      {dialog && <AreaDialog area={area} onClose={() => setDialog(false)} onArea={onArea} />}
    </>
  )
}

type Way = 'box' | 'point' | 'text'

function AreaDialog({ area, onClose, onArea }: { area?: Area; onClose(): void; onArea(area: Area): void }): ReactElement {
  const [way, setWay] = useState<Way>('box')
  const take = (shape: GeoJSON.Polygon) => {
    onArea(shape)
    theStage().fitGeometry(shape)
    onClose()
  }
  return (
    <Dialog title="Area" onClose={onClose}>
      <div className="col g16">
        <Segmented
          label="How to give the area"
          value={way}
          onChange={setWay}
          options={[
            { value: 'box', text: 'Four edges' },
            { value: 'point', text: 'Point and radius' },
            { value: 'text', text: 'Text or file' },
          ]}
        />
        {way === 'box' && <BoxForm box={boxOf(area) ?? theStage().viewBox()} onTake={take} />}
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
      className="col g12"
      onSubmit={(event) => {
        event.preventDefault()
        if (isGood) onTake(boxPolygon(numbers))
      }}
    >
      <div className="pair">
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
      <p className="soft sm">
        {isGood ? areaText(areaOf(boxPolygon(numbers))) : 'West must be less than east, and south less than north.'}
      </p>
      <Button type="submit" look="primary" disabled={!isGood}>
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
      className="col g12"
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
      <Button type="submit" look="primary">
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
      className="col g12"
      onSubmit={(event) => {
        event.preventDefault()
        void send(text)
      }}
    >
      <label className="col g6">
        <span className="lab">GeoJSON, WKT, KML, GPX, four numbers or coordinates</span>
        <textarea className="ta mono" rows={6} value={text} onChange={(event) => setText(event.target.value)} />
      </label>
      <label className="col g6">
        <span className="lab">Or a file</span>
        <input type="file" accept=".json,.geojson,.kml,.gpx,.wkt,.txt" onChange={(event) => void open(event.target.files?.[0])} />
      </label>
      {error && (
        <Note tone="bad" icon="warn">
          {error}
        </Note>
      )}
      <Button type="submit" look="primary" disabled={text.trim() === ''}>
        Use this area
      </Button>
    </form>
  )
}
