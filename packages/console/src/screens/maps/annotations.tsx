/** Points, lines and areas with a text: drawn on the map, and listed with their texts. */
import { useState, type ReactElement } from 'react'
import { sharedMap } from '../../map/shared-map.ts'
import { plural } from '../../ui/format.ts'
import { Button, Field } from '../../ui/kit.ts'
import { classes } from '../../ui/classes.ts'
import type { Annotation } from './draft.ts'
import { useMark, type MarkMode } from './use-mark.ts'
import { DEFAULT_COLOUR } from './use-map-layers.ts'
import styles from './annotations.module.css'
import workspaceStyles from '../../parts/workspace.module.css'
import ui from '../../ui/ui.module.css'

const MODES: readonly { mode: MarkMode; text: string; hint: string }[] = [
  { mode: 'point', text: 'Point', hint: 'Click the map, or press Enter to use its centre.' },
  {
    mode: 'line',
    text: 'Line',
    hint: 'Click each corner, or press Enter to add the centre of the map. The last one twice finishes the line.',
  },
  {
    mode: 'area',
    text: 'Area',
    hint: 'Click each corner, or press Enter to add the centre of the map. The last one twice finishes the area.',
  },
]
const KINDS: Readonly<Record<string, string>> = { Point: 'Point', LineString: 'Line', Polygon: 'Area' }
const MAX_TEXT = 2_000

interface AnnotationParts {
  annotations: readonly Annotation[]
  mayWrite: boolean
  /** What is being drawn. */
  drawing: MarkMode | null
  onDraw(mode: MarkMode | null): void
  onChange(annotations: readonly Annotation[]): void
}

export function Annotations({ annotations, mayWrite, drawing, onDraw, onChange }: AnnotationParts): ReactElement | null {
  const [added, setAdded] = useState<string | null>(null)
  const add = (geometry: GeoJSON.Geometry) => {
    const made = { id: crypto.randomUUID(), geometry: geometry as unknown as Annotation['geometry'], text: '', color: null }
    onDraw(null)
    setAdded(made.id)
    onChange([made, ...annotations])
  }
  if (!mayWrite && annotations.length === 0) return null
  const change = (id: string, part: Partial<Annotation>) =>
    onChange(annotations.map((each) => (each.id === id ? { ...each, ...part } : each)))
  return (
    <section className={workspaceStyles.section} aria-label="Annotations">
      <h2 className={ui.panelTitle}>Annotations</h2>
      {mayWrite && <Tools {...{ drawing, onDraw }} onDone={add} />}
      <ul className={styles.list}>
        {annotations.map(({ id, geometry, text, color }) => (
          <li key={id} className={styles.annotation}>
            {mayWrite ? (
              <>
                <Field
                  className={ui.grow}
                  label={`${KINDS[String(geometry['type'])] ?? 'Shape'}: text`}
                  maxLength={MAX_TEXT}
                  autoFocus={id === added} // What was drawn is described next.
                  value={text}
                  onChange={(event) => change(id, { text: event.target.value })}
                />
                <input
                  type="color"
                  aria-label={`Colour of ${text || 'the annotation'}`}
                  value={color ?? DEFAULT_COLOUR}
                  onChange={(event) => change(id, { color: event.target.value })}
                />
                <Button
                  size="s"
                  variant="quiet"
                  icon="trash"
                  label={`Remove ${text || 'the annotation'}`}
                  onClick={() => onChange(annotations.filter((each) => each.id !== id))}
                />
              </>
            ) : (
              <span className={ui.breakAnywhere}>{text || KINDS[String(geometry['type'])]}</span>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

interface ToolParts {
  drawing: MarkMode | null
  onDraw(mode: MarkMode | null): void
  onDone(geometry: GeoJSON.Geometry): void
}

function Tools({ drawing, onDraw, onDone }: ToolParts): ReactElement {
  const centre = () => {
    const { lng, lat } = sharedMap().map.getCenter().wrap()
    onDone({ type: 'Point', coordinates: [lng, lat] })
  }
  return (
    <>
      <div className={classes(ui.flexRow, ui.gap6, ui.wrap, ui.marginTop8)} role="group" aria-label="Draw an annotation">
        {MODES.map(({ mode, text }) => (
          <Button key={mode} size="s" aria-pressed={mode === drawing} onClick={() => onDraw(mode === drawing ? null : mode)}>
            {text}
          </Button>
        ))}
        <Button size="s" variant="quiet" onClick={centre}>
          Point at the centre
        </Button>
      </div>
      {drawing && <Drawing key={drawing} mode={drawing} onDone={onDone} onCancel={() => onDraw(null)} />}
    </>
  )
}

interface DrawingParts {
  mode: MarkMode
  onDone(geometry: GeoJSON.Geometry): void
  onCancel(): void
}

function Drawing({ mode, onDone, onCancel }: DrawingParts): ReactElement {
  const { count, isComplete, finish, removeLast } = useMark(mode, onDone, onCancel)
  return (
    <>
      <p className={classes(ui.soft, ui.small, ui.marginTop8)}>{MODES.find((each) => each.mode === mode)!.hint}</p>
      <p className={ui.screenReaderOnly} role="status">
        {plural(count, 'point')}
      </p>
      <div className={classes(ui.flexRow, ui.gap6, ui.wrap, ui.marginTop8)}>
        {mode !== 'point' && (
          <>
            <Button size="s" variant="primary" disabled={!isComplete} onClick={finish}>
              Finish
            </Button>
            <Button size="s" disabled={count === 0} onClick={removeLast}>
              Remove last point
            </Button>
          </>
        )}
        <Button size="s" variant="quiet" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </>
  )
}
