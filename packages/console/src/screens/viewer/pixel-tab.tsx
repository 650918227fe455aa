/** What the file holds at a place: under the pointer, where the map was clicked, or at typed coordinates. */
import { useEffect, useState, type ReactElement } from 'react'
import { useOp } from '../../api/query.ts'
import type { Position } from '../../map/geo.ts'
import { readArea } from '../../map/read-area.ts'
import { sharedMap } from '../../map/shared-map.ts'
import { value } from '../../ui/format.ts'
import { Button, Field, copyText } from '../../ui/kit.ts'
import { Empty } from '../../ui/states.tsx'
import type { Look } from '../../state/style.ts'
import { classes } from '../../ui/classes.ts'
import workspaceStyles from '../../parts/workspace.module.css'
import styles from './viewer.module.css'
import fieldStyles from '../../ui/field.module.css'
import progressBarStyles from '../../ui/progress-bar.module.css'
import tableStyles from '../../ui/table.module.css'
import ui from '../../ui/ui.module.css'

const MAX_PINS = 5
/** At most eight questions a second. */
const EVERY_MS = 125
const COLOURS = ['var(--c1)', 'var(--c5)', 'var(--c4)', 'var(--c3)', 'var(--c2)', 'var(--c6)']

export function usePointer(isActive: boolean): { at: Position | null; pins: readonly Position[]; clear(): void; pin(at: Position): void } {
  const [at, setAt] = useState<Position | null>(null)
  const [pins, setPins] = useState<readonly Position[]>([])
  const pin = (place: Position) => setPins((before) => [place, ...before].slice(0, MAX_PINS))
  useEffect(() => {
    if (!isActive) return
    const { map } = sharedMap()
    let last = 0
    const onMove = ({ lngLat }: { lngLat: { lng: number; lat: number } }) => {
      if (performance.now() - last < EVERY_MS) return
      last = performance.now()
      setAt([lngLat.lng, lngLat.lat])
    }
    const onClick = ({ lngLat }: { lngLat: { lng: number; lat: number } }) => {
      setAt([lngLat.lng, lngLat.lat])
      pin([lngLat.lng, lngLat.lat])
    }
    map.on('mousemove', onMove)
    map.on('click', onClick)
    map.getCanvas().style.cursor = 'crosshair'
    return () => {
      map.off('mousemove', onMove)
      map.off('click', onClick)
      map.getCanvas().style.cursor = ''
    }
  }, [isActive])
  useEffect(() => sharedMap().setPoints(isActive ? pins : []), [pins, isActive])
  return { at, pins, pin, clear: () => setPins([]) }
}

interface PixelParts {
  itemId: string
  assetKey: string | null
  look: Look
  pointer: ReturnType<typeof usePointer>
}

export function PixelTab({ itemId, assetKey, look, pointer }: PixelParts): ReactElement {
  const { at, pins, pin, clear } = pointer
  const shown = at ?? pins[0] ?? null
  return (
    <>
      <div className={workspaceStyles.section}>
        <PlaceForm onPlace={pin} />
      </div>
      <div className={workspaceStyles.section}>
        {shown ? (
          <PixelValues itemId={itemId} assetKey={assetKey} look={look} at={shown} />
        ) : (
          <Empty icon="pin" title="Point at the image">
            Move over the map, click to pin up to five places, or type coordinates.
          </Empty>
        )}
      </div>
      {pins.length > 0 && (
        <div className={workspaceStyles.section}>
          <h3>
            <span className={ui.grow}>Pinned</span>
            <Button size="s" variant="quiet" onClick={clear}>
              Clear
            </Button>
          </h3>
          <table className={classes(tableStyles.table, tableStyles.slim)}>
            <thead>
              <tr>
                <th>Place</th>
                <th className={tableStyles.number}>Values</th>
              </tr>
            </thead>
            <tbody>
              {pins.map((place, index) => (
                <PinRow key={index} itemId={itemId} assetKey={assetKey} look={look} at={place} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  )
}

const usePoint = (itemId: string, assetKey: string | null, look: Look, [longitude, latitude]: Position) =>
  useOp(
    'items.point',
    {
      item_id: itemId,
      longitude: Number(longitude.toFixed(6)),
      latitude: Number(latitude.toFixed(6)),
      ...(assetKey ? { asset_key: assetKey } : {}),
      ...(look.expression ? { expression: look.expression } : {}),
    },
    { keep: true, staleTime: 600_000 },
  )

const placeText = ([longitude, latitude]: Position) => `${latitude.toFixed(5)}, ${longitude.toFixed(5)}`

function PixelValues({ itemId, assetKey, look, at }: { itemId: string; assetKey: string | null; look: Look; at: Position }): ReactElement {
  const point = usePoint(itemId, assetKey, look, at)
  if (point.isError && !point.data) return <p className={ui.soft}>{point.error.message}</p>
  const data = point.data
  const tallest = Math.max(1e-9, ...(data?.bands ?? []).map((band) => Math.abs(band.value ?? 0)))
  return (
    <>
      <div className={classes(ui.flexRow, ui.between)}>
        <h3>At the pointer</h3>
        <button type="button" className={classes(ui.asLink, ui.numeric)} onClick={() => void copyText(placeText(at))}>
          {placeText(at)}
        </button>
      </div>
      {data && !data.inside && <p className={ui.soft}>Outside the image.</p>}
      {data?.inside && (
        <div className={styles.bands}>
          {data.bands.map((band, index) => (
            <div key={band.band} className={styles.bandRow}>
              <span className={classes(ui.mono, ui.ellipsis)}>
                b{band.band} {band.name}
              </span>
              <span className={progressBarStyles.track}>
                <i style={{ width: `${(Math.abs(band.value ?? 0) / tallest) * 100}%`, background: COLOURS[index % COLOURS.length] }} />
              </span>
              <b className={classes(ui.numeric, ui.alignEnd)}>{band.value === null ? 'no data' : value(band.value)}</b>
            </div>
          ))}
          {data.results.map((result) => (
            <div key={result.expression} className={styles.bandRow}>
              <span className={classes(ui.mono, ui.ellipsis)}>result</span>
              <span />
              <b className={classes(ui.numeric, ui.alignEnd, ui.accent)}>{result.value === null ? 'no data' : value(result.value)}</b>
            </div>
          ))}
        </div>
      )}
    </>
  )
}

function PinRow({ itemId, assetKey, look, at }: { itemId: string; assetKey: string | null; look: Look; at: Position }): ReactElement {
  const { data } = usePoint(itemId, assetKey, look, at)
  const values = data?.results.length ? data.results.map((row) => row.value) : (data?.bands ?? []).map((row) => row.value)
  return (
    <tr>
      <td className={ui.mono}>{placeText(at)}</td>
      <td className={classes(tableStyles.number, ui.numeric)}>{data ? (data.inside ? values.map(value).join(' ') : 'outside') : '…'}</td>
    </tr>
  )
}

function PlaceForm({ onPlace }: { onPlace(at: Position): void }): ReactElement {
  const [text, setText] = useState('')
  const [error, setError] = useState('')
  const send = async () => {
    const read = await readArea(text).catch(() => null)
    if (read?.kind !== 'place') return setError('Write it like -33.19, 137.99')
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
            Look
          </Button>
        }
      />
    </form>
  )
}
