/** Making an area: draw it, type it, paste or drop it. The numbers are there while one works. */
import { lazy, Suspense, useEffect, useRef, useState, type ReactElement } from 'react'
import type { DrawMode } from '../../map/draw.ts'
import { sharedMap } from '../../map/shared-map.ts'
import { Icon, type IconName } from '../../ui/icons.tsx'
import { classes } from '../../ui/classes.ts'
import mapSlotStyles from '../../map/map-slot.module.css'
import styles from './area-tools.module.css'
import ui from '../../ui/ui.module.css'

const AreaDialog = lazy(() => import('./area-dialog.tsx'))

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
    stop.current = drawArea(sharedMap(), next, (shape) => {
      stop.current = null
      setMode(null)
      if (shape) onArea(shape)
    })
  }
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !(event.target as HTMLElement).closest(`.${mapSlotStyles.slot}`)) return
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
      <div
        className={classes(mapSlotStyles.floating, mapSlotStyles.toolbar, mapSlotStyles.horizontal, styles.tools)}
        role="toolbar"
        aria-label="Area"
      >
        {TOOLS.map(({ mode: toolMode, icon, text }) => (
          <button
            key={toolMode}
            type="button"
            className={mode === toolMode ? mapSlotStyles.selected : ''}
            aria-pressed={mode === toolMode}
            aria-label={text}
            title={text}
            onClick={() => void begin(toolMode)}
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
        <p className={classes(mapSlotStyles.floating, styles.hint, ui.small)} role="status">
          {mode === 'polygon'
            ? 'Click corners; click the first one or press Enter to close. Esc to cancel.'
            : 'Click twice: one corner or the centre, then how far. Esc to cancel.'}
        </p>
      )}
      <Suspense>{dialog && <AreaDialog onClose={() => setDialog(false)} onArea={onArea} />}</Suspense>
    </>
  )
}
