import { useState, type ReactElement } from 'react'
import type { Colormap } from '../../api/contract.ts'
import { rampOf } from '../../state/colormaps.ts'
import { classes } from '../../ui/classes.ts'
import styles from './colormap-picker.module.css'
import ui from '../../ui/ui.module.css'

/** Shown first, in this order. */
const COMMON = ['viridis', 'cividis', 'magma', 'rdylgn', 'brbg', 'blues', 'gray', 'terrain', 'inferno']
const SHOWN_FIRST = 6

interface ColormapPickerParts {
  maps: readonly Colormap[]
  chosen: string | null
  onPick(id: string): void
}

export function ColormapPicker({ maps, chosen, onPick }: ColormapPickerParts): ReactElement {
  const [all, setAll] = useState(false)
  const rank = (id: string) => (COMMON.includes(id) ? COMMON.indexOf(id) : COMMON.length)
  const ordered = maps.toSorted((a, b) => rank(a.id) - rank(b.id))
  const shown = all ? ordered : ordered.filter(({ id }, index) => index < SHOWN_FIRST || id === chosen)
  return (
    <>
      <div className={styles.colormaps} role="group" aria-label="Colormap">
        {shown.map((map) => (
          <button
            key={map.id}
            type="button"
            className={map.id === chosen ? styles.selected : ''}
            aria-pressed={map.id === chosen}
            onClick={() => onPick(map.id)}
          >
            <i style={{ background: rampOf(map) }} />
            {map.name}
          </button>
        ))}
      </div>
      {maps.length > SHOWN_FIRST && (
        <button type="button" className={classes(ui.asLink, ui.marginTop8)} onClick={() => setAll(!all)}>
          {all ? 'Show fewer' : `Show all ${maps.length}`}
        </button>
      )}
    </>
  )
}
