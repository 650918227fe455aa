/** What became more and what became less between two scenes, in hectares, with the way to an alert on it. */
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
import styles from './compare.module.css'
import tableStyles from '../../ui/table.module.css'
import ui from '../../ui/ui.module.css'

interface Part {
  area_ha: number
  fraction: number
}
/** As `analytics.execute` answers for `change_detection`. */
type Result = {
  before: { mean: number; expression: string }
  after: { mean: number; expression: string }
  change_threshold: number
  gain: Part
  loss: Part
  unchanged: Part
}

/** What is on the screen of the item; all of it where nothing is. */
function seenOf(box: Box): Box {
  const [west, south, east, north] = sharedMap().viewBox()
  const seen: Box = [Math.max(west, box[0]), Math.max(south, box[1]), Math.min(east, box[2]), Math.min(north, box[3])]
  return seen[0] < seen[2] && seen[1] < seen[3] ? seen : box
}

export function ChangePanel({ a, b, look }: { a: Item; b: Item; look: string }): ReactElement {
  const [area, setArea] = useState<GeoJSON.Polygon | null>(null)
  const index = look === 'ndwi' ? 'ndwi' : 'ndvi'
  // Before and after by their dates, whichever side they hang on.
  const [before, after] = (a.datetime ?? '') <= (b.datetime ?? '') ? [a, b] : [b, a]
  // Not asked before there is an area.
  const params = { before_item_id: before.id, after_item_id: after.id, geometry: area!, index_name: index }
  const answer = useOp('analytics.execute', { operation: 'change_detection', params }, { enabled: area !== null, staleTime: 300_000 })
  const result = answer.data?.result as Result | undefined
  return (
    <section className={classes(mapSlotStyles.floating, styles.change)} aria-label="What changed">
      {area === null ? (
        <Button size="s" icon="hist" onClick={() => setArea(boxPolygon(seenOf(a.bbox as Box)))}>
          Measure the change of {index.toUpperCase()} here
        </Button>
      ) : answer.isError ? (
        <Failed error={answer.error} retry={() => void answer.refetch()} />
      ) : result ? (
        <>
          <table className={tableStyles.table} aria-label={`Change of ${index.toUpperCase()} by ${result.change_threshold} or more`}>
            <tbody>
              <Row name="More" part={result.gain} />
              <Row name="Less" part={result.loss} />
              <Row name="As before" part={result.unchanged} />
            </tbody>
          </table>
          <p className={classes(ui.soft, ui.small)}>
            Mean {index.toUpperCase()} {value(result.before.mean)}, then {value(result.after.mean)}; a change is{' '}
            {value(result.change_threshold)} or more.
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
              Alert on this
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
