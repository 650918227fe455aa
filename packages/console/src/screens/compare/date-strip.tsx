/** The items of this place by date: a click compares one with A, or opens A or B. */
import { useNavigate } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import type { FoundItem } from '../../state/found-item.ts'
import { date, plural } from '../../ui/format.ts'
import { classes } from '../../ui/classes.ts'
import mapSlotStyles from '../../map/map-slot.module.css'
import styles from './date-strip.module.css'
import ui from '../../ui/ui.module.css'

const MAX_DATES = 24

interface DateStripParts {
  items: readonly FoundItem[]
  idA: string | undefined
  idB: string | undefined
  onPick(id: string): void
}

export function DateStrip({ items, idA, idB, onPick }: DateStripParts): ReactElement | null {
  const navigate = useNavigate()
  const dated = items
    .flatMap(({ id, datetime }) => (datetime === null ? [] : [{ id, datetime }]))
    .toSorted((one, other) => one.datetime.localeCompare(other.datetime))
  if (dated.length < 2) return null
  return (
    <div className={classes(mapSlotStyles.floating, styles.dateStrip)} role="group" aria-label="Dates">
      <div className={styles.dates}>
        {dated.slice(0, MAX_DATES).map(({ id, datetime }) => {
          const side = id === idA ? 'A' : id === idB ? 'B' : null
          return (
            <button
              key={id}
              type="button"
              className={classes(styles.date, side === 'A' && styles.dateA, side === 'B' && styles.dateB)}
              aria-label={side ? `${date(datetime)}, open ${side}` : `${date(datetime)}, compare with A`}
              title={date(datetime)}
              onClick={() => (side ? void navigate({ to: '/view/$item', params: { item: id } }) : onPick(id))}
            >
              {side}
            </button>
          )
        })}
      </div>
      <span className={classes(ui.soft, ui.small)}>{plural(dated.length, 'scene')}</span>
    </div>
  )
}
