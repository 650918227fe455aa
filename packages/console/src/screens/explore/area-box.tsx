/** The area that is searched: its size, and the ways to change it. */
import { lazy, Suspense, useState, type ReactElement } from 'react'
import { areaOf, boxPolygon, MAX_AREA_M2, MAX_VERTICES, simplify } from '../../map/geo.ts'
import { withSharedMap } from '../../map/lazy-map.ts'
import { area as areaText } from '../../ui/format.ts'
import { withLoadError } from '../../ui/load-error.tsx'
import { Button, Note } from '../../ui/kit.ts'
import { classes } from '../../ui/classes.ts'
import styles from './area-box.module.css'
import ui from '../../ui/ui.module.css'

const AreaDialog = lazy(withLoadError(() => import('../../parts/areas/area-dialog.tsx')))

type Area = GeoJSON.Polygon | null

const SIMPLIFIED_VERTICES = 400

export function AreaBox({ area, onArea, onFit }: { area: Area; onArea(area: Area): void; onFit(): void }): ReactElement {
  const [dialog, setDialog] = useState(false)
  const size = areaOf(area)
  const corners = area ? area.coordinates[0]!.length - 1 : 0
  const tooMany = corners > MAX_VERTICES
  return (
    <>
      <div className={styles.areaBox}>
        <i className={styles.swatch} />
        {area ? (
          <>
            <button type="button" className={classes(ui.grow, ui.asText)} onClick={onFit}>
              <b>Area of interest</b>
              <br />
              <span className={classes(ui.small, size > MAX_AREA_M2 || tooMany ? ui.danger : ui.soft)}>
                {areaText(size)}, {corners} of {MAX_VERTICES} points
              </span>
            </button>
            <Button variant="quiet" icon="poly" label="Edit area" onClick={() => setDialog(true)} />
            <Button variant="quiet" icon="x" label="Remove area" onClick={() => onArea(null)} />
          </>
        ) : (
          <>
            <div className={styles.text}>
              <b>No area yet</b>
              <br />
              <span className={classes(ui.soft, ui.small)}>Searches the current map view.</span>
            </div>
            <Button size="s" onClick={() => void withSharedMap((shared) => onArea(boxPolygon(shared.viewBox())))}>
              Use view
            </Button>
            <Button size="s" onClick={() => setDialog(true)}>
              Enter coordinates
            </Button>
          </>
        )}
      </div>
      {area && size > MAX_AREA_M2 && (
        <Note tone="warn" icon="warn">
          The maximum search area is 50,000 km². Draw a smaller area.
        </Note>
      )}
      {area && tooMany && (
        <Note
          tone="warn"
          icon="warn"
          actions={
            <Button size="s" onClick={() => onArea(simplify(area, SIMPLIFIED_VERTICES))}>
              Simplify to {SIMPLIFIED_VERTICES} points
            </Button>
          }
        >
          This area has {corners} points. The maximum is {MAX_VERTICES}.
        </Note>
      )}
      <Suspense>{dialog && <AreaDialog area={area} onClose={() => setDialog(false)} onArea={onArea} />}</Suspense>
    </>
  )
}
