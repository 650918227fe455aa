/** Points, lines and areas with a text: drawn on the map, and listed with their texts. */
import { useEffect, useRef, useState, type ReactElement } from 'react'
import { drawMark, type MarkMode } from '../../map/draw-mark.ts'
import { sharedMap } from '../../map/shared-map.ts'
import { Button, Field } from '../../ui/kit.ts'
import { classes } from '../../ui/classes.ts'
import type { Annotation } from './draft.ts'
import { DEFAULT_COLOUR } from './use-map-layers.ts'
import styles from './annotations.module.css'
import workspaceStyles from '../../parts/workspace.module.css'
import ui from '../../ui/ui.module.css'

const MODES: readonly { mode: MarkMode; text: string; hint: string }[] = [
  { mode: 'point', text: 'Point', hint: 'Click on the map.' },
  { mode: 'linestring', text: 'Line', hint: 'Click each corner, and the last one again.' },
  { mode: 'polygon', text: 'Area', hint: 'Click each corner, and the first one again.' },
]
const KINDS: Readonly<Record<string, string>> = { Point: 'Point', LineString: 'Line', Polygon: 'Area' }
const MAX_TEXT = 2_000

interface AnnotationParts {
  annotations: readonly Annotation[]
  mayWrite: boolean
  onChange(annotations: readonly Annotation[]): void
}

export function Annotations({ annotations, mayWrite, onChange }: AnnotationParts): ReactElement | null {
  const [drawing, setDrawing] = useState<MarkMode | null>(null)
  const add = (geometry: GeoJSON.Geometry) => {
    const made = { id: crypto.randomUUID(), geometry: geometry as unknown as Annotation['geometry'], text: '', color: null }
    setDrawing(null)
    onChange([made, ...annotations])
  }
  const latest = useRef(add)
  useEffect(() => {
    latest.current = add
  })
  useEffect(() => (drawing ? drawMark(sharedMap(), drawing, (geometry) => latest.current(geometry)) : undefined), [drawing])
  if (!mayWrite && annotations.length === 0) return null
  const change = (id: string, part: Partial<Annotation>) =>
    onChange(annotations.map((each) => (each.id === id ? { ...each, ...part } : each)))
  return (
    <section className={workspaceStyles.section} aria-label="Annotations">
      <h2 className={ui.panelTitle}>Annotations</h2>
      {mayWrite && <Tools drawing={drawing} onDraw={setDrawing} onCentre={add} />}
      <ul className={styles.list}>
        {annotations.map(({ id, geometry, text, color }) => (
          <li key={id} className={styles.annotation}>
            {mayWrite ? (
              <>
                <Field
                  className={ui.grow}
                  label={`${KINDS[String(geometry['type'])] ?? 'Shape'}: text`}
                  maxLength={MAX_TEXT}
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
  onCentre(geometry: GeoJSON.Geometry): void
}

function Tools({ drawing, onDraw, onCentre }: ToolParts): ReactElement {
  const centre = () => {
    const { lng, lat } = sharedMap().map.getCenter().wrap()
    onCentre({ type: 'Point', coordinates: [lng, lat] })
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
      {drawing && (
        <p className={classes(ui.soft, ui.small, ui.marginTop8)} role="status">
          {MODES.find(({ mode }) => mode === drawing)!.hint}
        </p>
      )}
    </>
  )
}
