/** The area that is searched, of one or several polygons: its size, and the ways to change, save and open it. */
import { lazy, Suspense, useState, type ReactElement, type ReactNode } from 'react'
import { removePolygon } from '../../map/edit-rings.ts'
import {
  areaOf,
  boxPolygon,
  MAX_AREA_M2,
  MAX_POLYGONS,
  MAX_VERTICES,
  polygonsOf,
  simplify,
  vertexCount,
  type AreaShape,
  type Position,
} from '../../map/geo.ts'
import { withSharedMap } from '../../map/lazy-map.ts'
import { useWritableProjects } from '../../state/who.ts'
import { area as areaText, plural } from '../../ui/format.ts'
import { withLoadError } from '../../ui/load-error.tsx'
import { Button, Note } from '../../ui/kit.ts'
import { classes } from '../../ui/classes.ts'
import styles from './area-box.module.css'
import ui from '../../ui/ui.module.css'

const AreaDialog = lazy(withLoadError(() => import('../../parts/areas/area-dialog.tsx')))
const SavedAreas = lazy(withLoadError(() => import('../../parts/areas/saved-areas.tsx')))
const SaveArea = lazy(withLoadError(async () => ({ default: (await import('../../parts/areas/saved-areas.tsx')).SaveArea })))

const SIMPLIFIED_VERTICES = 400

export interface AreaBoxParts {
  area: AreaShape | null
  onArea(area: AreaShape | null): void
  /** Of a file, text or saved area. */
  onPolygons(polygons: Position[][][], isAdded?: boolean): void
  onFit(): void
  /** The next area is added to the others instead of replacing them. */
  isAdding: boolean
  setAdding(on: boolean): void
  onEdit(): void
  /** After the ways to save and open areas. */
  children?: ReactNode
}

export function AreaBox({ area, onArea, onPolygons, onFit, isAdding, setAdding, onEdit, children }: AreaBoxParts): ReactElement {
  const [dialog, setDialog] = useState<DialogName | null>(null)
  const size = areaOf(area)
  const polygons = polygonsOf(area)
  const corners = vertexCount(area)
  const tooMany = hasTooMany(area)
  const close = () => setDialog(null)
  return (
    <>
      <div className={styles.areaBox}>
        <i className={styles.swatch} />
        {area ? (
          <>
            <button type="button" className={classes(ui.grow, ui.asText)} onClick={onFit}>
              <b>{polygons.length === 1 ? 'Area of interest' : `${polygons.length} areas of interest`}</b>
              <br />
              <span className={classes(ui.small, size > MAX_AREA_M2 || tooMany ? ui.danger : ui.soft)}>
                {areaText(size)}, {corners} of {MAX_VERTICES} points
              </span>
            </button>
            <Button variant="quiet" icon="poly" label="Edit area" onClick={() => setDialog('enter')} />
            <Button variant="quiet" icon="x" label="Remove area" onClick={() => onArea(null)} />
          </>
        ) : (
          <>
            <div className={styles.text}>
              <b>No area yet</b>
              <span className={classes(ui.soft, ui.small, styles.hint)}>Searches the current map view.</span>
            </div>
            <Button size="s" onClick={() => void withSharedMap((shared) => onArea(boxPolygon(shared.viewBox())))}>
              Use view
            </Button>
            <Button size="s" onClick={() => setDialog('enter')}>
              Enter coordinates
            </Button>
          </>
        )}
        {polygons.length > 1 && <AreaList area={area!} onArea={onArea} />}
        <AreaActions {...{ area, isAdding, setAdding, onEdit, children }} open={setDialog} />
      </div>
      {isAdding && <Note icon="info">The next area you draw, enter or import is added to the search.</Note>}
      {area && <AreaLimits area={area} onArea={onArea} />}
      <Suspense>
        {dialog === 'enter' && <AreaDialog area={isAdding ? null : area} onClose={close} onArea={onArea} onPolygons={onPolygons} />}
        {dialog === 'save' && area && <SaveArea area={area} onClose={close} />}
        {dialog === 'saved' && (
          <SavedAreas
            hasArea={area !== null}
            onClose={close}
            onUse={(found, isAdded) => {
              onPolygons(found, isAdded)
              close()
            }}
          />
        )}
      </Suspense>
    </>
  )
}

type DialogName = 'enter' | 'saved' | 'save'

/** The service counts the points that close rings. */
const hasTooMany = (area: AreaShape | null) => vertexCount(area) + polygonsOf(area).flat().length > MAX_VERTICES

type ActionParts = Pick<AreaBoxParts, 'area' | 'isAdding' | 'setAdding' | 'onEdit' | 'children'> & { open(dialog: DialogName): void }

function AreaActions({ area, isAdding, setAdding, onEdit, open, children }: ActionParts): ReactElement {
  const { writable } = useWritableProjects()
  return (
    <div className={styles.actions}>
      {area && (
        <>
          <Button size="s" variant="quiet" onClick={onEdit}>
            Move corners
          </Button>
          <Button
            size="s"
            variant="quiet"
            aria-pressed={isAdding}
            disabled={polygonsOf(area).length >= MAX_POLYGONS}
            onClick={() => setAdding(!isAdding)}
          >
            Add area
          </Button>
          {writable.length > 0 && (
            <Button size="s" variant="quiet" onClick={() => open('save')}>
              Save area
            </Button>
          )}
        </>
      )}
      <Button size="s" variant="quiet" onClick={() => open('saved')}>
        Saved areas
      </Button>
      {children}
    </div>
  )
}

/** What cannot be searched, and what to do about it. */
const AreaLimits = ({ area, onArea }: Pick<AreaBoxParts, 'onArea'> & { area: AreaShape }): ReactElement => (
  <>
    {areaOf(area) > MAX_AREA_M2 && (
      <Note tone="warn" icon="warn">
        The maximum search area is 50,000 km². Draw a smaller area.
      </Note>
    )}
    {hasTooMany(area) && (
      <Note
        tone="warn"
        icon="warn"
        actions={
          <Button size="s" onClick={() => onArea(simplify(area, SIMPLIFIED_VERTICES))}>
            Simplify to {SIMPLIFIED_VERTICES} points
          </Button>
        }
      >
        This area has {vertexCount(area)} points. The maximum is {MAX_VERTICES}.
      </Note>
    )}
  </>
)

/** Each polygon with its size. */
const AreaList = ({ area, onArea }: Pick<AreaBoxParts, 'onArea'> & { area: AreaShape }): ReactElement => (
  <ul className={styles.list}>
    {polygonsOf(area).map((coordinates, index) => {
      const polygon: GeoJSON.Polygon = { type: 'Polygon', coordinates }
      return (
        <li key={index} className={classes(ui.flexRow, ui.gap6, ui.small)}>
          <button
            type="button"
            className={classes(ui.grow, ui.asText)}
            onClick={() => void withSharedMap((shared) => shared.fitGeometry(polygon))}
          >
            Area {index + 1}, {areaText(areaOf(polygon))}
            {coordinates.length > 1 && <span className={ui.soft}>, {plural(coordinates.length - 1, 'hole')}</span>}
          </button>
          <Button size="s" variant="quiet" icon="x" label={`Remove area ${index + 1}`} onClick={() => onArea(removePolygon(area, index))} />
        </li>
      )
    })}
  </ul>
)
