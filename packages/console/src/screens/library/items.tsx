/** Items as a grid of images, as a table, or on the map. */
import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect, type ReactElement } from 'react'
import type { Collection, Item } from '../../api/contract.ts'
import type { Box } from '../../map/geo.ts'
import { MapSlot } from '../../map/map-slot.tsx'
import { sharedMap } from '../../map/shared-map.ts'
import { AuthImage, tileOf } from '../../ui/auth-image.tsx'
import { isSimulated, SimulatedBadge } from '../../parts/simulated-badge.tsx'
import { typeText } from '../../state/item-type.ts'
import { date, metres } from '../../ui/format.ts'
import { State } from '../../ui/kit.ts'
import { classes } from '../../ui/classes.ts'
import styles from './items.module.css'
import listStyles from '../../ui/list.module.css'
import tableStyles from '../../ui/table.module.css'
import ui from '../../ui/ui.module.css'

interface ItemsParts {
  items: readonly Item[]
  chosen: ReadonlySet<string>
  onToggle(id: string): void
}

const thumbnail = (item: Item) => tileOf(`/api/v1/items/${encodeURIComponent(item.id)}`, item.bbox)
const sourceText = (item: Item) => (item.order_id ? 'Order' : item.upload_id ? 'Upload' : item.job_id ? 'Job' : typeText(item.type))

export function ItemGrid({ items, chosen, onToggle }: ItemsParts): ReactElement {
  return (
    <ul className={styles.grid}>
      {items.map((item) => (
        <li key={item.id} className={chosen.has(item.id) ? classes(styles.item, styles.selected) : styles.item}>
          <div className={styles.image}>
            <AuthImage path={thumbnail(item)} alt="" />
            <input
              type="checkbox"
              className={listStyles.checkOverlay}
              checked={chosen.has(item.id)}
              aria-label={`Select ${item.name}`}
              onChange={() => onToggle(item.id)}
            />
            {item.lifecycle_state !== 'active' && (
              <span className={styles.corner}>
                <State of={item.lifecycle_state} />
              </span>
            )}
          </div>
          <Link to="/view/$item" params={{ item: item.id }} className={styles.text}>
            <b className={ui.ellipsis}>{item.name}</b>
            <span className={classes(ui.flexRow, ui.between, ui.soft, ui.small)}>
              <span>{date(item.datetime)}</span>
              <span>{metres(item.gsd)}</span>
            </span>
            <span className={classes(ui.flexRow, ui.between, ui.faint, ui.small)}>
              {sourceText(item)} {isSimulated(item.properties) && <SimulatedBadge />}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  )
}

export function ItemTable({ items, chosen, onToggle }: ItemsParts): ReactElement {
  return (
    <div className={ui.scrollSideways}>
      <table className={classes(tableStyles.table, tableStyles.stacked)}>
        <thead>
          <tr>
            <th>
              <span className={ui.screenReaderOnly}>Select</span>
            </th>
            <th>Name</th>
            <th>Acquired</th>
            <th className={tableStyles.number}>Resolution</th>
            <th>Source</th>
            <th>Status</th>
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={item.id} className={chosen.has(item.id) ? tableStyles.selected : ''}>
              <td className={ui.hideOnPhone}>
                <input
                  type="checkbox"
                  checked={chosen.has(item.id)}
                  aria-label={`Select ${item.name}`}
                  onChange={() => onToggle(item.id)}
                />
              </td>
              <td>
                <Link to="/view/$item" params={{ item: item.id }}>
                  {item.name}
                </Link>
              </td>
              <td>{date(item.datetime)}</td>
              <td className={tableStyles.number}>{metres(item.gsd)}</td>
              <td className={ui.hideOnPhone}>
                {sourceText(item)} {isSimulated(item.properties) && <SimulatedBadge />}
              </td>
              <td className={ui.hideOnPhone}>
                {item.expires_at ? `Expires ${date(item.expires_at)}` : <State of={item.lifecycle_state} />}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

export function ItemsMap({ items, collections }: { items: readonly Item[]; collections: readonly Collection[] }): ReactElement {
  const navigate = useNavigate()
  useEffect(() => {
    const colour = (id: string | null) => collections.find((collection) => collection.id === id)?.color ?? undefined
    sharedMap().setFootprints(
      items.map((item) => ({
        id: item.id,
        geometry: item.geometry,
        colour: colour(item.collection_id),
      })),
    )
    sharedMap().setRasters(
      collections
        .filter(({ show_on_map, item_count }) => show_on_map && item_count > 0)
        .slice(0, 6)
        .map(({ id }) => ({ id: `collection-${id}`, tiles: `${location.origin}/api/v1/collections/${id}/tiles/{z}/{x}/{y}.webp` })),
    )
    const boxes = items.flatMap(({ bbox }) => (bbox ? [bbox as Box] : []))
    if (boxes.length > 0)
      sharedMap().fit(
        [
          Math.min(...boxes.map((box) => box[0])),
          Math.min(...boxes.map((box) => box[1])),
          Math.max(...boxes.map((box) => box[2])),
          Math.max(...boxes.map((box) => box[3])),
        ],
        { animate: false },
      )
    const { map } = sharedMap()
    const onClick = ({ point }: { point: { x: number; y: number } }) => {
      const [id] = sharedMap().footprintsAt([point.x, point.y])
      if (id) void navigate({ to: '/view/$item', params: { item: id } })
    }
    map.on('click', onClick)
    return () => void map.off('click', onClick)
  }, [items, collections, navigate])
  return (
    <div className={styles.itemsMap}>
      <MapSlot className={styles.mapSlot} />
    </div>
  )
}
