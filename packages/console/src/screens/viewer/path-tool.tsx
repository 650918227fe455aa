/** Measures a distance or an area, draws a zone, or draws a profile: places in a row on the map, set with pointer, keys or as text. */
import type { ReactElement } from 'react'
import type { Item } from '../../api/contract.ts'
import { CentreMark } from '../../map/centre-mark.tsx'
import type { Position } from '../../map/geo.ts'
import { MAX_PATH_POINTS, measure, polygonOf, type Measured } from '../../map/path.ts'
import { useUrl } from '../../state/url.ts'
import { classes } from '../../ui/classes.ts'
import { distance, exactArea, plural } from '../../ui/format.ts'
import { useIsPhone } from '../../ui/is-phone.ts'
import { Button } from '../../ui/kit.ts'
import { PlaceForm } from './place-form.tsx'
import { Profile } from './profile.tsx'
import type { ItemStyle } from './use-item-style.ts'
import { usePath } from './use-path.ts'
import { ToolPanel } from './tool-panel.tsx'
import type { Tool } from './use-tool.ts'
import { useZones } from './use-zones.ts'
import { formatZones, MAX_ZONES } from './zones.ts'
import styles from './tool-panel.module.css'
import ui from '../../ui/ui.module.css'

type PathToolName = Exclude<Tool, 'swipe' | 'timelapse'>

const TITLES: Readonly<Record<PathToolName, string>> = { distance: 'Distance', area: 'Area', zone: 'New zone', profile: 'Profile' }

interface PathToolParts {
  tool: PathToolName
  item: Item
  itemStyle: ItemStyle
}

export function PathTool({ tool, item, itemStyle }: PathToolParts): ReactElement {
  const [, setUrl] = useUrl()
  const [zones] = useZones()
  const isClosed = tool === 'area' || tool === 'zone'
  const addZone = (points: readonly Position[]) =>
    setUrl({ zones: formatZones([...zones.map(({ shape }) => shape), polygonOf(points)!]), tool: null, line: null })
  const { points, preview, isDone, set, finish } = usePath(isClosed, tool === 'zone' ? addZone : undefined)
  const shown = preview ?? points
  const isFull = tool === 'zone' && zones.length >= MAX_ZONES
  const needed = isClosed ? 3 : 2
  const isPhone = useIsPhone()
  const profile = tool === 'profile' && points.length > 1 && <Profile item={item} itemStyle={itemStyle} points={points} />
  return (
    <>
      <ToolPanel
        title={TITLES[tool]}
        size={profile ? 'high' : undefined}
        summary={
          !isFull && (
            <>
              <Figures measured={measure(shown, isClosed)} count={shown.length} isClosed={isClosed} />
              {/* What is said aloud changes with each point, not with each move of the pointer. */}
              <p className={ui.screenReaderOnly} role="status">
                {spoken(measure(points, isClosed), points.length, isClosed)}
              </p>
            </>
          )
        }
      >
        {isFull ? (
          <p className={classes(ui.soft, ui.small)}>There are {MAX_ZONES} zones already. Remove one in Statistics first.</p>
        ) : (
          <>
            <p className={classes(ui.soft, ui.small, ui.hideOnPhone)}>
              {isDone
                ? 'Click to start again, or drag a point.'
                : 'Click the map, or press Enter to add its centre. Click twice to finish.'}
            </p>
            {/* A phone has no room for it beside the map. */}
            <details open={!isPhone}>
              <summary className={ui.small}>Enter coordinates</summary>
              <PlaceForm action="Add point" isCleared onPlace={(at) => points.length < MAX_PATH_POINTS && set([...points, at])} />
            </details>
            <div className={classes(ui.flexRow, ui.gap6, ui.wrap)}>
              {!isDone && (
                <Button size="s" variant="primary" disabled={points.length < needed} onClick={finish}>
                  {tool === 'zone' ? 'Add zone' : 'Finish'}
                </Button>
              )}
              <Button size="s" disabled={points.length === 0} onClick={() => set(points.slice(0, -1))}>
                Remove last point
              </Button>
              <Button size="s" variant="quiet" disabled={points.length === 0} onClick={() => set([])}>
                Clear
              </Button>
            </div>
            {isPhone && profile}
          </>
        )}
      </ToolPanel>
      <CentreMark />
      {!isPhone && profile}
    </>
  )
}

const bearingText = (bearing: number) => `${bearing.toFixed(1)}°`

function Figures({ measured, count, isClosed }: { measured: Measured; count: number; isClosed: boolean }): ReactElement {
  const { lengthM, areaM2, bearing } = measured
  const rest = [
    isClosed && count > 2 ? `Perimeter ${distance(lengthM)}` : null,
    isClosed || bearing === null ? null : `Bearing ${bearingText(bearing)}`,
    plural(count, 'point'),
  ]
  return (
    <div aria-hidden="true">
      <div className={styles.result}>{isClosed ? exactArea(areaM2) : distance(lengthM)}</div>
      <div className={classes(ui.soft, ui.small, ui.numeric)}>{rest.filter(Boolean).join(', ')}</div>
    </div>
  )
}

function spoken({ lengthM, areaM2, bearing }: Measured, count: number, isClosed: boolean): string {
  if (count === 0) return 'No points yet'
  if (isClosed)
    return count > 2 ? `${exactArea(areaM2)}, perimeter ${distance(lengthM)}, ${plural(count, 'point')}` : plural(count, 'point')
  return bearing === null ? plural(count, 'point') : `${distance(lengthM)}, bearing ${bearingText(bearing)}, ${plural(count, 'point')}`
}
