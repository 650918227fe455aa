/** How much an index increased or decreased between two scenes, in hectares, and the way to an alert on it. */
import type { ReactElement } from 'react'
import { encodeArea } from '../../map/geo.ts'
import { rampOf, useColormaps } from '../../state/colormaps.ts'
import { Bars } from '../../ui/bars.tsx'
import { percent, value } from '../../ui/format.ts'
import { Button, LinkButton } from '../../ui/kit.ts'
import { Ramp } from '../../ui/ramp.tsx'
import { Failed, Skeleton } from '../../ui/states.tsx'
import { classes } from '../../ui/classes.ts'
import type { Change, ChangedPart, ChangeResult } from './use-change.ts'
import mapSlotStyles from '../../map/map-slot.module.css'
import styles from './change-panel.module.css'
import tableStyles from '../../ui/table.module.css'
import ui from '../../ui/ui.module.css'

interface ChangePanelParts {
  change: Change
  /** Whether the difference is on the map. */
  isShown: boolean
}

export function ChangePanel({ change, isShown }: ChangePanelParts): ReactElement {
  const { area, query, result, indexName, measure } = change
  return (
    <section className={classes(mapSlotStyles.floating, styles.changePanel)} aria-label="Change">
      {area === null ? (
        <Button size="s" icon="hist" onClick={measure}>
          Measure {indexName} change
        </Button>
      ) : query.isError ? (
        <Failed error={query.error} retry={() => void query.refetch()} />
      ) : result ? (
        <>
          <b>Change in {indexName}</b>
          <table
            className={classes(tableStyles.table, tableStyles.slim)}
            aria-label={`Change of ${indexName} by ${result.change_threshold} or more`}
          >
            <tbody>
              <Row name="Increase" part={result.gain} />
              <Row name="Decrease" part={result.loss} />
              <Row name="Unchanged" part={result.unchanged} />
            </tbody>
          </table>
          <DifferenceHistogram result={result} indexName={indexName} />
          {isShown && <DifferenceLegend threshold={result.change_threshold} />}
          <p className={classes(ui.soft, ui.small)}>
            Mean {indexName} {value(result.before.mean)} before, {value(result.after.mean)} after. Threshold{' '}
            {value(result.change_threshold)}.
          </p>
          <Actions change={change} area={area} result={result} isShown={isShown} />
        </>
      ) : (
        <Skeleton rows={2} />
      )}
    </section>
  )
}

const Row = ({ name, part }: { name: string; part: ChangedPart }) => (
  <tr>
    <th scope="row">{name}</th>
    <td className={classes(tableStyles.number, ui.numeric)}>{value(part.area_ha)} ha</td>
    <td className={classes(tableStyles.number, ui.numeric)}>{percent(Math.round(part.fraction * 100))}</td>
  </tr>
)

/** How often each difference occurs. */
function DifferenceHistogram({ result, indexName }: { result: ChangeResult; indexName: string }): ReactElement | null {
  const { counts, edges } = result.difference.histogram
  const [low, high] = [edges[0], edges.at(-1)]
  if (low === undefined || high === undefined) return null
  return (
    <Bars
      className={styles.histogram}
      label={`Histogram of the change in ${indexName}, from ${value(low)} to ${value(high)}`}
      {...{ low, high, counts }}
      colour="--c1"
    />
  )
}

/** The service draws differences of up to four thresholds, down and up. */
const DRAWN_THRESHOLDS = 4

function DifferenceLegend({ threshold }: { threshold: number }): ReactElement {
  const colormap = useColormaps().find(({ id }) => id === 'change')
  const most = DRAWN_THRESHOLDS * threshold
  return (
    <div className={styles.legend}>
      <Ramp background={rampOf(colormap)} />
      <div className={classes(ui.flexRow, ui.between, ui.soft, ui.small, ui.numeric)}>
        <span>{value(-most)}</span>
        <span>0</span>
        <span>{value(most)}</span>
      </div>
    </div>
  )
}

interface ActionsParts extends ChangePanelParts {
  area: GeoJSON.Polygon
  result: ChangeResult
}

function Actions({ change, area, result, isShown }: ActionsParts): ReactElement {
  const { downloadUrl, collectionId, measure, close } = change
  return (
    <div className={classes(ui.flexRow, ui.gap6, ui.wrap)}>
      <LinkButton
        size="s"
        icon="bell"
        to="/alerts/new"
        search={{
          collection: collectionId ?? '',
          expr: result.after.expression,
          is: result.after.mean < result.before.mean ? 'lt' : 'gt',
          at: String(Number(((result.before.mean + result.after.mean) / 2).toPrecision(3))),
          area: encodeArea(area),
        }}
      >
        Create alert
      </LinkButton>
      {downloadUrl !== null && (
        <Button size="s" icon="down" onClick={() => location.assign(downloadUrl)}>
          Download raster
        </Button>
      )}
      {/* The difference stays on the map as long as its mode is chosen; the map can have moved. */}
      <Button size="s" variant="quiet" onClick={isShown ? measure : close}>
        {isShown ? 'Measure this view' : 'Close'}
      </Button>
    </div>
  )
}
