/** Tools that make an area: draw it on the map, or enter, paste or upload it. */
import { useEffect, useState, type ReactElement } from 'react'
import type { DrawMode } from '../../map/draw.ts'
import { areaOf, MAX_AREA_M2, polygonsOf, vertexCount, type Position } from '../../map/geo.ts'
import { MapHint } from '../../map/map-hint.tsx'
import { ToolButton } from '../../map/tool-button.tsx'
import { exactArea } from '../../ui/format.ts'
import { Icon, type IconName } from '../../ui/icons.tsx'
import { loadLater } from '../../ui/load-later.tsx'
import { useDrawTool } from './use-draw-tool.ts'
import { classes } from '../../ui/classes.ts'
import mapSlotStyles from '../../map/map-slot.module.css'
import styles from './area-tools.module.css'

const AreaDialog = loadLater(async () => (await import('./area-dialog.tsx')).default)

type Area = GeoJSON.Polygon | null

const TOOLS: readonly { mode: DrawMode; icon: IconName; text: string; letter: string }[] = [
  { mode: 'polygon', icon: 'poly', text: 'Draw polygon (P)', letter: 'p' },
  { mode: 'rectangle', icon: 'rect', text: 'Draw rectangle (R)', letter: 'r' },
  { mode: 'circle', icon: 'pin', text: 'Draw circle (C)', letter: 'c' },
]

const HINTS: Readonly<Record<DrawMode, string>> = {
  polygon: 'Click to add corners. Click the first corner or press Enter to finish.',
  rectangle: 'Click two opposite corners.',
  circle: 'Click the centre, then the edge.',
}

interface AreaToolsParts {
  onArea(area: Area): void
  /** Takes all polygons of a file or text; without it, the largest is used. */
  onPolygons?(polygons: Position[][][]): void
  children?: ReactElement | null
}

export function AreaTools({ onArea, onPolygons, children }: AreaToolsParts): ReactElement {
  const { mode, drawn, toggle } = useDrawTool(onArea)
  const [dialog, setDialog] = useState(false)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !(event.target as HTMLElement).closest(`.${mapSlotStyles.slot}`)) return
      if (event.key === 'i') return setDialog(true)
      const tool = TOOLS.find(({ letter }) => letter === event.key)
      if (tool) void toggle(tool.mode)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  })
  return (
    <>
      <div
        className={classes(mapSlotStyles.floating, mapSlotStyles.toolbar, mapSlotStyles.horizontal, styles.tools)}
        role="toolbar"
        aria-label="Area"
      >
        {TOOLS.map(({ mode: toolMode, icon, text }) => (
          <ToolButton key={toolMode} icon={icon} text={text} isActive={mode === toolMode} onClick={() => void toggle(toolMode)} />
        ))}
        <hr />
        <button
          type="button"
          aria-label="Enter, paste or upload an area (I)"
          title="Enter, paste or upload an area (I)"
          onClick={() => setDialog(true)}
        >
          <Icon name="up" />
        </button>
        {children}
      </div>
      {mode && (
        <MapHint>
          <DrawnSize shape={drawn} /> {HINTS[mode]} Esc to cancel.
        </MapHint>
      )}
      {dialog && <AreaDialog onClose={() => setDialog(false)} onArea={onArea} onPolygons={onPolygons} />}
    </>
  )
}

/** How large the shape is at this moment, and whether that is too large. */
function DrawnSize({ shape }: { shape: GeoJSON.Polygon | null }): ReactElement | null {
  const size = areaOf(shape)
  if (!shape || size === 0 || polygonsOf(shape).length === 0) return null
  return (
    <b className={classes(styles.size, size > MAX_AREA_M2 && styles.tooLarge)}>
      {exactArea(size)}
      {size > MAX_AREA_M2 ? ', more than the maximum of 50,000 km²' : ''}, {vertexCount(shape)} points.
    </b>
  )
}
