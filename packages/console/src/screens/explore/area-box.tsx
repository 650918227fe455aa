/** The area that is searched, as a line of the panel. */
import { lazy, Suspense, useState, type ReactElement } from 'react'
import { areaOf, boxPolygon, MAX_AREA_M2, MAX_VERTICES, simplify } from '../../map/geo.ts'
import { onSharedMap } from '../../map/later.ts'
import { area as areaText } from '../../ui/format.ts'
import { Button, Note } from '../../ui/kit.ts'
import { classes } from '../../ui/classes.ts'
import styles from './explore.module.css'
import ui from '../../ui/ui.module.css'

const AreaDialog = lazy(() => import('../../parts/areas/area-dialog.tsx'))

type Area = GeoJSON.Polygon | null

export function AreaBox({ area, onArea, onFit }: { area: Area; onArea(area: Area): void; onFit(): void }): ReactElement {
  const [dialog, setDialog] = useState(false)
  const size = areaOf(area)
  const corners = area ? area.coordinates[0]!.length - 1 : 0
  const tooMany = corners > MAX_VERTICES
  return (
    <>
      <div className={styles.area}>
        <i className={styles.areaSwatch} />
        {area ? (
          <>
            <button type="button" className={classes(ui.grow, ui.asText)} onClick={onFit}>
              <b>Your area</b>
              <br />
              <span className={classes(ui.small, size > MAX_AREA_M2 || tooMany ? ui.danger : ui.soft)}>
                {areaText(size)}, {corners} of {MAX_VERTICES} points
              </span>
            </button>
            <Button variant="quiet" icon="poly" label="Edit the area as text" onClick={() => setDialog(true)} />
            <Button variant="quiet" icon="x" label="Remove the area" onClick={() => onArea(null)} />
          </>
        ) : (
          <>
            <div className={ui.grow}>
              <b>No area yet</b>
              <br />
              <span className={classes(ui.soft, ui.small)}>The map in view is searched.</span>
            </div>
            <Button size="s" onClick={() => void onSharedMap((shared) => onArea(boxPolygon(shared.viewBox())))}>
              Use view
            </Button>
            <Button size="s" onClick={() => setDialog(true)}>
              Type
            </Button>
          </>
        )}
      </div>
      {area && size > MAX_AREA_M2 && (
        <Note tone="warn" icon="warn">
          At most 50,000 km² are searched at once. Draw a smaller area.
        </Note>
      )}
      {area && tooMany && (
        <Note
          tone="warn"
          icon="warn"
          actions={
            <Button size="s" onClick={() => onArea(simplify(area, 400))}>
              Simplify to 400 points
            </Button>
          }
        >
          {corners} points are too many.
        </Note>
      )}
      <Suspense>{dialog && <AreaDialog area={area} onClose={() => setDialog(false)} onArea={onArea} />}</Suspense>
    </>
  )
}
