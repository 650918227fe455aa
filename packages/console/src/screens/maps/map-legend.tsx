/** The colours on the map and what they stand for: of the layers that are shown, from top to bottom. */
import type { ReactElement } from 'react'
import { useOp } from '../../api/query.ts'
import { value } from '../../ui/format.ts'
import { Ramp } from '../../ui/ramp.tsx'
import { classes } from '../../ui/classes.ts'
import { isGone, isShown, nameOf, type Draft, type Layer } from './draft.ts'
import { DEFAULT_COLOUR } from './use-map-layers.ts'
import mapSlotStyles from '../../map/map-slot.module.css'
import styles from './map-legend.module.css'
import ui from '../../ui/ui.module.css'

/** Those on top; more would hide the map. */
const MAX_ENTRIES = 6

export function MapLegend({ draft }: { draft: Draft }): ReactElement | null {
  const shown = draft.layers.filter((layer) => isShown(draft, layer) && !isGone(layer) && layer.collection_id === null)
  if (shown.length === 0) return null
  return (
    <section className={classes(mapSlotStyles.floating, styles.legend)} aria-label="Legend">
      <ul className={styles.list}>
        {shown.slice(0, MAX_ENTRIES).map((layer) => (
          <li key={layer.id}>{layer.item_id === null ? <Shapes layer={layer} /> : <Imagery layer={layer} itemId={layer.item_id} />}</li>
        ))}
      </ul>
    </section>
  )
}

const Shapes = ({ layer }: { layer: Layer }): ReactElement => (
  <div className={classes(ui.flexRow, ui.gap6)}>
    <i className={styles.swatch} style={{ background: layer.color ?? DEFAULT_COLOUR }} />
    <b className={ui.ellipsis}>{nameOf(layer)}</b>
  </div>
)

/** A scale with its values, or what red, green and blue show. */
function Imagery({ layer, itemId }: { layer: Layer; itemId: string }): ReactElement {
  const legend = useOp('items.tile.legend', { item_id: itemId, ...layer.style }, { staleTime: 300_000 }).data?.legend
  const [low, high] = [legend?.low ?? 0, legend?.high ?? 1]
  return (
    <>
      <b className={classes(ui.ellipsis, ui.block)}>{nameOf(layer)}</b>
      {legend?.kind === 'composite' && <span className={classes(ui.soft, ui.small)}>{legend.channels.join(', ')}</span>}
      {legend?.kind === 'scale' && (
        <>
          <Ramp background={`linear-gradient(90deg,${legend.colors.join(',')})`} />
          <div className={classes(ui.flexRow, ui.between, ui.soft, ui.small, ui.numeric)}>
            {[low, (low + high) / 2, high].map((number, index) => (
              <span key={index}>{value(number)}</span>
            ))}
          </div>
          {legend.unit && <span className={classes(ui.soft, ui.small)}>{legend.unit}</span>}
        </>
      )}
    </>
  )
}
