/** The values of the file at a place: under the pointer, where the map was clicked, or at typed coordinates. */
import type { ReactElement } from 'react'
import type { Style } from '../../state/style.ts'
import type { Band } from './band.ts'
import { Button } from '../../ui/kit.ts'
import { Empty } from '../../ui/states.tsx'
import { PinRow, PixelValues } from './pixel-values.tsx'
import { PlaceForm } from './place-form.tsx'
import type { Pointer } from './use-pointer.ts'
import { classes } from '../../ui/classes.ts'
import workspaceStyles from '../../parts/workspace.module.css'
import tableStyles from '../../ui/table.module.css'
import ui from '../../ui/ui.module.css'

interface PixelTabParts {
  itemId: string
  assetKey: string | null
  style: Style
  bands: readonly Band[]
  pointer: Pointer
}

export function PixelTab({ pointer: { at, pins, pin, clear }, bands, ...raster }: PixelTabParts): ReactElement {
  const shown = at ?? pins[0] ?? null
  return (
    <>
      <div className={workspaceStyles.section}>
        <PlaceForm onPlace={pin} />
      </div>
      <div className={workspaceStyles.section}>
        {shown ? (
          <PixelValues {...raster} bands={bands} at={shown} />
        ) : (
          <Empty icon="pin" title="Point at the image">
            Move over the map, click to pin up to five places, or enter coordinates.
          </Empty>
        )}
      </div>
      {pins.length > 0 && (
        <div className={workspaceStyles.section}>
          <h3>
            <span className={ui.grow}>Pinned</span>
            <Button size="s" variant="quiet" onClick={clear}>
              Clear pins
            </Button>
          </h3>
          <table className={classes(tableStyles.table, tableStyles.slim)}>
            <thead>
              <tr>
                <th>Place</th>
                <th className={tableStyles.number}>Values</th>
              </tr>
            </thead>
            <tbody>
              {pins.map((place) => (
                <PinRow key={place.join()} {...raster} at={place} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  )
}
