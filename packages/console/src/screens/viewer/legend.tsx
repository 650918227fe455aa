/** The colours of the style and the values that they stand for, on the map. */
import type { ReactElement } from 'react'
import type { Style } from '../../state/style.ts'
import { value } from '../../ui/format.ts'
import { rampOf, useColormaps } from '../../state/colormaps.ts'
import { Ramp } from '../../ui/ramp.tsx'
import { useLegendRange } from './use-legend-range.ts'
import { classes } from '../../ui/classes.ts'
import mapSlotStyles from '../../map/map-slot.module.css'
import styles from './legend.module.css'
import ui from '../../ui/ui.module.css'

interface LegendParts {
  itemId: string
  style: Style
  assetKey: string | null
  label: string
}

export function Legend({ itemId, style, assetKey, label }: LegendParts): ReactElement | null {
  const range = useLegendRange(itemId, style, assetKey, true)
  const maps = useColormaps()
  if (!range) return null
  const [low, high] = range
  return (
    <div className={classes(mapSlotStyles.floating, styles.legend)}>
      <div className={classes(ui.flexRow, ui.between)}>
        <b className={ui.ellipsis}>{label}</b>
        <span className={classes(ui.soft, ui.small)}>{style.colormap}</span>
      </div>
      <Ramp background={rampOf(maps.find(({ id }) => id === style.colormap))} />
      <div className={classes(ui.flexRow, ui.between, ui.soft, ui.small, ui.numeric)}>
        {[low, (low + high) / 2, high].map((number, index) => (
          <span key={index}>{value(number)}</span>
        ))}
      </div>
    </div>
  )
}
