/** Changes an area on the map: corners are dragged, moved with the arrow keys or typed; every step can be undone. */
import { useCallback, useEffect, useRef, useState, type ReactElement } from 'react'
import { showHandles, type AreaHandles } from '../../map/area-handles.ts'
import { mayRemove, moveCorner, positionOf, removeCorner, type Corner } from '../../map/edit-rings.ts'
import { areaOf, boxOf, isWithinLimits, MAX_VERTICES, vertexCount, type AreaShape } from '../../map/geo.ts'
import { readArea } from '../../map/read-area.ts'
import { sharedMap, type SharedMap } from '../../map/shared-map.ts'
import { exactArea } from '../../ui/format.ts'
import { Button, Field } from '../../ui/kit.ts'
import { classes } from '../../ui/classes.ts'
import mapSlotStyles from '../../map/map-slot.module.css'
import ui from '../../ui/ui.module.css'
import styles from './area-editor.module.css'

const MAX_STEPS = 200
/** What the sheet covers of the map on a phone, at most, and the space above it. */
const SHEET_PX = 250
const SHEET_PART = 0.45
const ABOVE_SHEET_PX = 24
const ZOOM_PX = 64
const PHONE_PX = 760

/** The corners are between the tools, the zoom buttons and the sheet. */
function phonePadding(shared: SharedMap) {
  const bottom = Math.round(Math.min(SHEET_PX, shared.element.clientHeight * SHEET_PART)) + ABOVE_SHEET_PX
  return { ...shared.padding(), right: ZOOM_PX, bottom }
}

interface AreaEditorParts {
  area: AreaShape
  onDone(area: AreaShape): void
  onCancel(): void
}

export default function AreaEditor({ area: initial, onDone, onCancel }: AreaEditorParts): ReactElement {
  const [steps, setSteps] = useState<readonly AreaShape[]>([initial])
  const [moving, setMoving] = useState<AreaShape | null>(null)
  const [selected, setSelected] = useState<Corner | null>(null)
  const handles = useRef<AreaHandles | null>(null)
  const area = steps.at(-1)!
  const shown = moving ?? area
  const change = useCallback((next: AreaShape, corner: Corner | null) => {
    setMoving(null)
    setSelected(corner)
    setSteps((before) => (before.at(-1) === next ? before : [...before, next].slice(-MAX_STEPS)))
  }, [])
  const undo = useCallback(() => {
    setSelected(null)
    setSteps((before) => (before.length > 1 ? before.slice(0, -1) : before))
  }, [])
  useEffect(() => {
    const shared = sharedMap()
    if (shared.element.clientWidth < PHONE_PX) shared.fit(boxOf(initial), { animate: false, padding: phonePadding(shared) })
    handles.current = showHandles(shared, { onMove: setMoving, onChange: change, onSelect: setSelected })
    return () => {
      handles.current?.stop()
      shared.setArea(initial)
    }
  }, [change, initial])
  // Selecting a corner does not draw them again: the one that has the focus must keep it.
  const focused = useRef<Corner | null>(null)
  focused.current = selected
  useEffect(() => handles.current?.show(area, focused.current), [area])
  useEffect(() => sharedMap().setArea(shown), [shown])
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.target as HTMLElement).closest('input, textarea, dialog')) return
      if (event.key === 'Escape') onCancel()
      else if (event.key.toLowerCase() === 'z' && (event.ctrlKey || event.metaKey)) undo()
      else return
      event.preventDefault()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [onCancel, undo])
  const isValid = isWithinLimits(shown)
  return (
    <section className={classes(mapSlotStyles.floating, styles.editor)} aria-label="Edit area">
      <p role="status">
        <b className={classes(styles.size, !isValid && ui.danger)}>{exactArea(areaOf(shown))}</b>{' '}
        <span className={classes(ui.soft, ui.small)}>
          of 50,000 km², {vertexCount(shown)} of {MAX_VERTICES} points
        </span>
      </p>
      {selected && positionOf(area, selected) ? (
        <CornerForm
          key={JSON.stringify([selected, positionOf(area, selected)])}
          area={area}
          corner={selected}
          onMove={(to) => change(moveCorner(area, selected, to), selected)}
          onRemove={() => change(removeCorner(area, selected), null)}
        />
      ) : (
        <p className={classes(ui.soft, ui.small, styles.hint)}>Drag a corner, or select it with Tab and move it with the arrow keys.</p>
      )}
      <div className={classes(ui.flexRow, ui.gap6, ui.wrap)}>
        <Button size="s" variant="primary" disabled={!isValid} onClick={() => onDone(area)}>
          Apply changes
        </Button>
        <Button size="s" disabled={steps.length < 2} onClick={undo}>
          Undo
        </Button>
        <Button size="s" variant="quiet" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </section>
  )
}

interface CornerFormParts {
  area: AreaShape
  corner: Corner
  onMove(to: [number, number]): void
  onRemove(): void
}

function CornerForm({ area, corner, onMove, onRemove }: CornerFormParts): ReactElement {
  const [x, y] = positionOf(area, corner)!
  const [text, setText] = useState(`${y.toFixed(6)}, ${x.toFixed(6)}`)
  const [error, setError] = useState('')
  const send = async () => {
    const read = await readArea(text).catch(() => null)
    if (read?.kind === 'place') onMove(read.at)
    else setError('Enter latitude and longitude, such as -33.19, 137.99.')
  }
  return (
    <form
      className={classes(ui.flexColumn, ui.gap6)}
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <Field
        label={`Corner ${corner.index + 1}: latitude, longitude`}
        value={text}
        error={error || undefined}
        onChange={(event) => setText(event.target.value)}
      />
      <div className={classes(ui.flexRow, ui.gap6)}>
        <Button size="s" type="submit">
          Move corner
        </Button>
        <Button size="s" variant="quiet" disabled={!mayRemove(area, corner)} onClick={onRemove}>
          Remove corner
        </Button>
      </div>
    </form>
  )
}
