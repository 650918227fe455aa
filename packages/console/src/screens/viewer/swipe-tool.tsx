/** The item left of a divider; right of it another date of its collection, a layer below, or the base map. */
import { useState, type ReactElement } from 'react'
import type { Item } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { SwipeDivider } from '../../map/swipe-divider.tsx'
import { useSecondMap } from '../../map/use-second-map.ts'
import { tileQuery, tileUrl } from '../../state/style.ts'
import { useUrl } from '../../state/url.ts'
import { classes } from '../../ui/classes.ts'
import { date } from '../../ui/format.ts'
import { Choice } from '../../ui/kit.ts'
import { ToolPanel } from './tool-panel.tsx'
import type { ItemStyle } from './use-item-style.ts'
import styles from './swipe-tool.module.css'
import ui from '../../ui/ui.module.css'

const MAX_SIBLINGS = 24
const BASE_MAP = 'base'
const MIDDLE = 50

const percentOf = (text: string | undefined) => {
  const percent = Number(text ?? MIDDLE)
  return percent >= 0 && percent <= 100 ? percent : MIDDLE
}

export function SwipeTool({ item, itemStyle: { drawnStyle, assetKey } }: { item: Item; itemStyle: ItemStyle }): ReactElement {
  const [url, setUrl] = useUrl()
  const [at, setAt] = useState(percentOf(url['at']))
  const collection = useOp(
    'items.list_by_collection',
    { collection_id: item.collection_id ?? '', limit: MAX_SIBLINGS },
    { enabled: item.collection_id !== null },
  )
  const siblings = (collection.data?.items ?? []).filter(({ id }) => id !== item.id)
  const below = (url['with'] ?? '').split(',').filter((id) => id !== '' && !siblings.some((sibling) => sibling.id === id))
  const against = url['against'] ?? siblings[0]?.id ?? below[0] ?? BASE_MAP
  // Other dates have the same style; a layer below is drawn as it is on the map.
  const isSibling = siblings.some(({ id }) => id === against)
  const tiles = against === BASE_MAP ? null : tileUrl(against, isSibling ? tileQuery(drawnStyle, assetKey) : '')
  const second = useSecondMap(tiles)
  return (
    <>
      <div className={styles.second} ref={second} style={{ clipPath: `inset(0 0 0 ${at}%)` }} />
      <SwipeDivider label="Divider" at={at} onMove={setAt} onEnd={(next) => setUrl({ at: String(Math.round(next)) })} />
      <ToolPanel title="Swipe" size="low">
        <Choice
          label="Right of the divider"
          value={against}
          onChange={(event) => setUrl({ against: event.target.value })}
          options={[
            ...siblings.map(({ id, datetime, name }) => ({ value: id, text: datetime ? `${date(datetime)}, ${name}` : name })),
            ...below.map((id, index) => ({ value: id, text: `Layer below ${index + 1}` })),
            { value: BASE_MAP, text: 'Base map' },
          ]}
        />
        <p className={classes(ui.soft, ui.small)}>Drag the divider, or move it with the arrow keys.</p>
      </ToolPanel>
    </>
  )
}
