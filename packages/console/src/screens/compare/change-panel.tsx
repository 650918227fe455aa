/** How much an index increased or decreased between two scenes, in hectares, and the way to an alert on it. */
import { useState, type ReactElement } from 'react'
import type { Item } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { boxPolygon, encodeArea, type Box } from '../../map/geo.ts'
import { sharedMap } from '../../map/shared-map.ts'
import { percent, value } from '../../ui/format.ts'
import { Button, LinkButton } from '../../ui/kit.ts'
import { Failed, Skeleton } from '../../ui/states.tsx'
import { classes } from '../../ui/classes.ts'
import mapSlotStyles from '../../map/map-slot.module.css'
import styles from './change-panel.module.css'
import tableStyles from '../../ui/table.module.css'
import ui from '../../ui/ui.module.css'

interface Part {
  area_ha: number
  fraction: number
}
/** The result of `analytics.execute` with `change_detection`. */
type ChangeResult = {
  before: { mean: number; expression: string }
  after: { mean: number; expression: string }
  change_threshold: number
  gain: Part
  loss: Part
  unchanged: Part
}

/** The part of the item that the map shows; all of it if it shows none. */
function visiblePart(box: Box): Box {
  const [west, south, east, north] = sharedMap().viewBox()
  const visible: Box = [Math.max(west, box[0]), Math.max(south, box[1]), Math.min(east, box[2]), Math.min(north, box[3])]
  return visible[0] < visible[2] && visible[1] < visible[3] ? visible : box
}

export function ChangePanel({ a, b, style }: { a: Item; b: Item; style: string }): ReactElement {
  const [area, setArea] = useState<GeoJSON.Polygon | null>(null)
  const index = style === 'ndwi' ? 'ndwi' : 'ndvi'
  // By their dates, whichever side they are on.
  const [before, after] = (a.datetime ?? '') <= (b.datetime ?? '') ? [a, b] : [b, a]
  const params = { before_item_id: before.id, after_item_id: after.id, geometry: area!, index_name: index }
  const change = useOp('analytics.execute', { operation: 'change_detection', params }, { enabled: area !== null, staleTime: 300_000 })
  const result = change.data?.result as ChangeResult | undefined
  return (
    <section className={classes(mapSlotStyles.floating, styles.changePanel)} aria-label="Change">
      {area === null ? (
        <Button size="s" icon="hist" onClick={() => setArea(boxPolygon(visiblePart(a.bbox as Box)))}>
          Measure {index.toUpperCase()} change
        </Button>
      ) : change.isError ? (
        <Failed error={change.error} retry={() => void change.refetch()} />
      ) : result ? (
        <>
          <b>Change in {index.toUpperCase()}</b>
          <table className={tableStyles.table} aria-label={`Change of ${index.toUpperCase()} by ${result.change_threshold} or more`}>
            <tbody>
              <Row name="Increase" part={result.gain} />
              <Row name="Decrease" part={result.loss} />
              <Row name="Unchanged" part={result.unchanged} />
            </tbody>
          </table>
          <p className={classes(ui.soft, ui.small)}>
            Mean {index.toUpperCase()} {value(result.before.mean)} before, {value(result.after.mean)} after. Threshold{' '}
            {value(result.change_threshold)}.
          </p>
          <div className={classes(ui.flexRow, ui.gap6)}>
            <LinkButton
              size="s"
              icon="bell"
              to="/alerts/new"
              search={{
                collection: after.collection_id ?? '',
                expr: result.after.expression,
                is: result.after.mean < result.before.mean ? 'lt' : 'gt',
                at: String(Number(((result.before.mean + result.after.mean) / 2).toPrecision(3))),
                area: encodeArea(area),
              }}
            >
              Create alert
            </LinkButton>
            <Button size="s" variant="quiet" onClick={() => setArea(null)}>
              Close
            </Button>
          </div>
        </>
      ) : (
        <Skeleton rows={2} />
      )}
    </section>
  )
}

const Row = ({ name, part }: { name: string; part: Part }) => (
  <tr>
    <th scope="row">{name}</th>
    <td className={classes(tableStyles.number, ui.numeric)}>{value(part.area_ha)} ha</td>
    <td className={classes(tableStyles.number, ui.numeric)}>{percent(Math.round(part.fraction * 100))}</td>
  </tr>
)
