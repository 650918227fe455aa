/** Two items of one place: swiped by pointer, finger or keys, side by side, blinking, or as their difference. */
import type { ReactElement } from 'react'
import type { Item } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import type { Box } from '../../map/geo.ts'
import { MapFailure } from '../../map/map-hint.tsx'
import { useTitle } from '../../state/crumbs.ts'
import { itemsIn, type FoundItem } from '../../state/found-item.ts'
import { tileUrl } from '../../state/style.ts'
import { useUrl } from '../../state/url.ts'
import { date } from '../../ui/format.ts'
import { Choice, Segmented } from '../../ui/kit.ts'
import { Empty, Skeleton } from '../../ui/states.tsx'
import { ChangePanel } from './change-panel.tsx'
import { ComparedMaps, type Mode } from './compared-maps.tsx'
import { DateStrip } from './date-strip.tsx'
import { useChange } from './use-change.ts'
import { classes } from '../../ui/classes.ts'
import mapSlotStyles from '../../map/map-slot.module.css'
import styles from './compare.module.css'
import ui from '../../ui/ui.module.css'

const STYLES = [
  { value: '', text: 'Default style' },
  { value: 'rgb', text: 'Natural colour' },
  { value: 'nir', text: 'Infrared' },
  { value: 'ndvi', text: 'NDVI' },
  { value: 'ndwi', text: 'NDWI' },
]
const MAX_ITEMS = 50

export function Compare(): ReactElement {
  const [url, setUrl] = useUrl()
  const { a: idA, b: idB, style = '' } = url
  const itemA = useOp('items.get', { item_id: idA ?? '' }, { enabled: Boolean(idA) })
  const itemB = useOp('items.get', { item_id: idB ?? '' }, { enabled: Boolean(idB) })
  const [first, second] = [itemA.data?.item, itemB.data?.item]
  const near = useOp(
    'items.search_org',
    { bbox: (first?.bbox ?? [0, 0, 1, 1]) as Box, limit: MAX_ITEMS },
    { enabled: Boolean(first?.bbox) },
  )
  const recent = useOp('items.search_org', { limit: MAX_ITEMS }, { enabled: !idA })
  useTitle({ text: 'Library', to: '/library' }, 'Compare')
  const mode = modeOf(url['mode'])
  const change = useChange({ a: first, b: second, style, isShown: mode === 'difference' })
  const nearby = itemsIn(near.data)
  const candidates = near.data ? nearby : itemsIn(recent.data)
  const tiles = (item: Item | undefined) => (item ? tileUrl(item.id, style ? `?profile=${encodeURIComponent(style)}` : '') : null)
  return (
    <div className={styles.compare}>
      <h1 className={ui.screenReaderOnly} tabIndex={-1}>
        Compare
      </h1>
      <ComparedMaps
        mode={mode}
        left={tiles(first)}
        right={tiles(second)}
        difference={change.tiles}
        box={(first?.bbox as Box | null | undefined) ?? null}
        at={Number(url['at'] ?? 50)}
        onAt={(at) => setUrl({ at: String(Math.round(at)) })}
      />
      <ItemChoice side="A" id={idA} item={first} candidates={candidates} onChange={(id) => setUrl({ a: id }, true)} />
      <ItemChoice side="B" id={idB} item={second} candidates={candidates} onChange={(id) => setUrl({ b: id }, true)} />
      <div className={classes(mapSlotStyles.floating, styles.modes)}>
        <Segmented
          label="Mode"
          value={mode}
          onChange={(next) => setUrl({ mode: next === 'swipe' ? null : next }, true)}
          options={[
            { value: 'swipe', text: 'Swipe' },
            { value: 'side', text: 'Side by side' },
            { value: 'blink', text: 'Blink' },
            { value: 'difference', text: 'Difference' },
          ]}
        />
        <Choice
          label="Style"
          hideLabel
          className={styles.styleChoice}
          value={style}
          onChange={(event) => setUrl({ style: event.target.value || null })}
          options={STYLES}
        />
      </div>
      {!idA && (
        <div className={classes(mapSlotStyles.floating, styles.empty)}>
          <Empty icon="swipe" title="Choose two items">
            Both are shown in the same style, so that differences are real changes.
          </Empty>
        </div>
      )}
      {idA && itemA.isPending && <Skeleton />}
      <MissingItems sides={[...(itemA.isError ? ['A'] : []), ...(itemB.isError ? ['B'] : [])]} />
      {first?.bbox && second && <ChangePanel change={change} isShown={mode === 'difference'} />}
      <DateStrip items={nearby} idA={idA} idB={idB} onPick={(id) => setUrl({ b: id }, true)} />
    </div>
  )
}

/** A deleted item is replaced by choosing another one. */
const MissingItems = ({ sides }: { sides: readonly string[] }): ReactElement | null =>
  sides.length === 0 ? null : (
    <MapFailure>{sides.map((side) => `Item ${side} was not found. Choose another item ${side}.`).join(' ')}</MapFailure>
  )

const MODES: readonly Mode[] = ['swipe', 'side', 'blink', 'difference']
const modeOf = (text: string | undefined): Mode => MODES.find((mode) => mode === text) ?? 'swipe'

interface ItemChoiceParts {
  side: 'A' | 'B'
  id: string | undefined
  item: Item | undefined
  candidates: readonly FoundItem[]
  onChange(id: string): void
}

function ItemChoice({ side, id, item, candidates, onChange }: ItemChoiceParts): ReactElement {
  const options = candidates.map(({ id: value, datetime, name }) => ({ value, text: labelOf(datetime, name) }))
  const isListed = !item || options.some(({ value }) => value === item.id)
  return (
    <div className={classes(mapSlotStyles.floating, styles.side, side === 'A' ? styles.sideA : styles.sideB)}>
      <span className={classes(styles.letter, side === 'B' && styles.letterB)}>{side}</span>
      <Choice
        label={`Item ${side}`}
        hideLabel
        className={styles.itemChoice}
        value={id ?? ''}
        onChange={(event) => onChange(event.target.value)}
        options={[
          { value: '', text: 'Choose an item', disabled: true },
          ...(isListed ? [] : [{ value: item.id, text: labelOf(item.datetime, item.name) }]),
          ...options,
        ]}
      />
    </div>
  )
}

const labelOf = (datetime: string | null, name: string) => (datetime === null ? name : `${date(datetime)}, ${name}`)
