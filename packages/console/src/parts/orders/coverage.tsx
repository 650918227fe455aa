/** What was ordered, what came of it, group by group. */
import { Link } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import type { Order, OrderGroup } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { boxOf, type Box } from '../../map/geo.ts'
import { AuthImage, tileOf } from '../../ui/auth-image.tsx'
import { ago, area as areaText, audOfCredits, date, percent, plural } from '../../ui/format.ts'
import { Badge, Bar, Card } from '../../ui/kit.ts'
import { CardMap, collectionOf } from '../areas/card-map.tsx'
import { isOver, groupStatus } from '../../state/order-states.ts'
import { classes } from '../../ui/classes.ts'
import cardStyles from '../../ui/card.module.css'
import chartsStyles from '../../ui/charts.module.css'
import listStyles from '../../ui/list.module.css'
import ui from '../../ui/ui.module.css'

const LOOK_EVERY_MS = 5_000

/** What a group is about, wherever it says so. */
function geometryOf({ captures, featureCollection }: OrderGroup): GeoJSON.Geometry {
  if (captures) return collectionOf(captures.map(({ geometry }) => geometry))
  const features = (featureCollection as { features?: { geometry: GeoJSON.Geometry }[] } | null)?.features ?? []
  return collectionOf(features.map(({ geometry }) => geometry))
}

const polygonsIn = (geometry: GeoJSON.Geometry): GeoJSON.Geometry[] =>
  geometry.type === 'GeometryCollection' ? geometry.geometries.flatMap(polygonsIn) : [geometry]

export function Coverage({ order }: { order: Order }): ReactElement {
  const coverage = useOp('orders.coverage.get', { order_id: order.id }, { refetchInterval: isOver(order) ? false : LOOK_EVERY_MS })
  const shapes = order.groups.flatMap((group) =>
    polygonsIn(geometryOf(group)).map((geometry, index) => ({ id: `${group.id}-${index}`, geometry })),
  )
  const items = order.groups.flatMap((group) => {
    const box = boxOf(geometryOf(group)) as Box | null
    return box ? group.itemIds.map((id) => ({ id, box })) : []
  })
  const isComplete = isOver(order) && items.length > 0
  const remainder = isComplete ? null : (coverage.data?.remainder.geometry ?? null)
  return (
    <Card
      title="Coverage"
      aside={
        <span className={classes(ui.flexRow, ui.gap12, ui.tiny, ui.soft)}>
          <span className={chartsStyles.legendEntry} style={{ '--c': 'var(--c1)' }}>
            ordered
          </span>
          {remainder && (
            <span className={chartsStyles.legendEntry} style={{ '--c': 'var(--signal)' }}>
              still to come
            </span>
          )}
        </span>
      }
      flush
    >
      <CardMap label="Map of ordered and delivered areas" shapes={shapes} items={items} area={remainder} />
      {coverage.data && (
        <div className={cardStyles.body}>
          <div className={classes(ui.flexRow, ui.between, ui.small, ui.gap8)}>
            <span>
              <b className={ui.numeric}>
                {areaText(coverage.data.covered.sqKmArea * 1e6)} of{' '}
                {areaText((coverage.data.covered.sqKmArea + coverage.data.remainder.sqKmArea) * 1e6)}
              </b>{' '}
              <span className={ui.soft}>covered</span>
            </span>
            <span className={classes(ui.soft, ui.numeric)}>{percent(coverage.data.covered.percentage)}</span>
          </div>
          <div className={ui.marginTop8}>
            <Bar label="Covered" share={coverage.data.covered.percentage / 100} />
          </div>
        </div>
      )}
    </Card>
  )
}

export function Groups({ order }: { order: Order }): ReactElement {
  const groups = useOp('orders.coverage.groups.list', { order_id: order.id }, { refetchInterval: isOver(order) ? false : LOOK_EVERY_MS })
  const coveredOf = (id: string) => groups.data?.groups.find(({ groupId }) => groupId === id)?.covered.percentage ?? 0
  return (
    <Card title="Groups" aside={<span className={classes(ui.soft, ui.small, ui.hideOnPhone)}>delivered and charged separately</span>} flush>
      <ul>
        {order.groups.map((group, index) => (
          <GroupRow key={group.id} name={`Area ${index + 1}`} group={group} covered={coveredOf(group.id)} updatedAt={order.updatedAt} />
        ))}
      </ul>
    </Card>
  )
}

function GroupRow({
  name,
  group,
  covered,
  updatedAt,
}: {
  name: string
  group: OrderGroup
  covered: number
  updatedAt: string
}): ReactElement {
  const said = groupStatus(group)
  const [item] = group.itemIds
  const picture = item ? tileOf(`/api/v1/items/${encodeURIComponent(item)}`, boxOf(geometryOf(group))) : null
  const first = group.captures?.[0]
  return (
    <li className={listStyles.entry}>
      <span className={listStyles.thumbnail}>{picture && <AuthImage path={picture} alt="" />}</span>
      <div className={ui.grow}>
        <div className={classes(ui.flexRow, ui.gap6, ui.wrap)}>
          <b className={ui.ellipsis}>{first?.acquiredAt ? date(first.acquiredAt) : name}</b>
          <Badge tone={said.tone}>{said.text}</Badge>
        </div>
        <div className={classes(ui.soft, ui.small, ui.ellipsis)}>
          {group.host}, {areaText(group.aoi_km2 * 1e6)}
          {item ? `, ${plural(group.itemIds.length, 'item')}` : `, last change ${ago(updatedAt)}`}
        </div>
        <div className={ui.marginTop4}>
          <Bar label={`Delivered part of this group`} share={covered / 100} />
        </div>
        {group.failureReason && <p className={classes(ui.warning, ui.small, ui.marginTop4)}>{group.failureReason}</p>}
        <div className={classes(ui.flexRow, ui.gap6, ui.wrap, ui.marginTop4)}>
          {group.itemIds.map((id, index) => (
            <Link key={id} to="/view/$item" params={{ item: id }} className={ui.small}>
              Open {group.itemIds.length > 1 ? `item ${index + 1}` : 'item'}
            </Link>
          ))}
        </div>
      </div>
      <div className={classes(ui.alignEnd, ui.noWrap)}>
        <b className={ui.numeric}>{audOfCredits(group.capturedCredits || group.credits)}</b>
        <div className={classes(ui.soft, ui.small)}>{percent(Math.round(covered))}</div>
      </div>
    </li>
  )
}
