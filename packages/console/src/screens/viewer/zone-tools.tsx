/** The zones that are measured, and the ways to add one: draw it, paste it, or take the centre of the item. */
import { useEffect, type ReactElement } from 'react'
import type { Item } from '../../api/contract.ts'
import type { DrawMode } from '../../map/draw.ts'
import { areaOf, boxPolygon, type Box } from '../../map/geo.ts'
import { sharedMap } from '../../map/shared-map.ts'
import { area as areaText } from '../../ui/format.ts'
import { Button } from '../../ui/kit.ts'
import { useDrawTool } from '../../parts/areas/use-draw-tool.ts'
import { PasteArea } from './paste-area.tsx'
import { useTool } from './use-tool.ts'
import { centreOf, MAX_ZONES, type Zone } from './zones.ts'
import { classes } from '../../ui/classes.ts'
import workspaceStyles from '../../parts/workspace.module.css'
import styles from './zone-tools.module.css'
import chartsStyles from '../../ui/charts.module.css'
import ui from '../../ui/ui.module.css'

interface ZoneToolsParts {
  item: Item
  zones: readonly Zone[]
  onZones(shapes: readonly GeoJSON.Polygon[]): void
}

export function ZoneTools({ item, zones, onZones }: ZoneToolsParts): ReactElement {
  const shapes = zones.map(({ shape }) => shape)
  const add = (shape: GeoJSON.Polygon) => onZones([...shapes, shape])
  const { mode, toggle, cancel } = useDrawTool(add)
  const [tool, setTool] = useTool()
  useEffect(() => {
    if (tool) cancel() // One tool at a time: both would take the same click.
    // oxlint-disable-next-line exhaustive-deps
  }, [tool])
  const draw = (next: DrawMode) => {
    setTool(null)
    void toggle(next)
  }
  const isFull = zones.length >= MAX_ZONES
  return (
    <div className={classes(workspaceStyles.section, ui.flexColumn, ui.gap8)}>
      <div className={classes(ui.flexRow, ui.gap6, ui.wrap)}>
        <Button size="s" icon="poly" aria-pressed={mode === 'polygon'} onClick={() => draw('polygon')} disabled={isFull}>
          Polygon
        </Button>
        <Button size="s" icon="rect" aria-pressed={mode === 'rectangle'} onClick={() => draw('rectangle')} disabled={isFull}>
          Rectangle
        </Button>
        {item.bbox && (
          <Button size="s" disabled={isFull} onClick={() => add(boxPolygon(centreOf(item.bbox as Box, zones.length)))}>
            Centre
          </Button>
        )}
        {zones.length > 0 && (
          <Button size="s" variant="quiet" onClick={() => onZones([])}>
            Clear zones
          </Button>
        )}
      </div>
      {mode && (
        <p className={classes(ui.soft, ui.small)} role="status">
          Click to draw on the map. Enter to finish, Esc to cancel.
        </p>
      )}
      <PasteArea onArea={add} disabled={isFull} />
      {zones.length > 0 && <ZoneList zones={zones} onRemove={(removed) => onZones(shapes.filter((shape) => shape !== removed.shape))} />}
    </div>
  )
}

function ZoneList({ zones, onRemove }: { zones: readonly Zone[]; onRemove(zone: Zone): void }): ReactElement {
  return (
    <ul className={styles.zones} aria-label="Zones">
      {zones.map((zone) => (
        <li key={zone.name} className={classes(ui.flexRow, ui.gap8)}>
          <span className={classes(chartsStyles.legendEntry, ui.grow)} style={{ '--c': `var(${zone.colour})` }}>
            {zone.name}, {areaText(areaOf(zone.shape))}
          </span>
          <Button size="s" variant="quiet" label={`Show ${zone.name} on the map`} onClick={() => sharedMap().fitGeometry(zone.shape)}>
            Show
          </Button>
          <Button size="s" variant="quiet" icon="x" label={`Remove ${zone.name}`} onClick={() => onRemove(zone)} />
        </li>
      ))}
    </ul>
  )
}
