/** A new tasking order: areas and requirements, with an estimate and the predicted passes. */
import type { ReactElement } from 'react'
import { useOp } from '../../api/query.ts'
import { areaOf, encodeArea } from '../../map/geo.ts'
import { AreaTools } from '../../parts/areas/area-tools.tsx'
import { CardMap } from '../../parts/areas/card-map.tsx'
import { SchemaForm } from '../../parts/schema-form.tsx'
import type { Schema } from '../../parts/schema-values.ts'
import { useTitle } from '../../state/crumbs.ts'
import { area as areaText, plural, squareKilometres } from '../../ui/format.ts'
import { Button, Card, Choice, Field, Page } from '../../ui/kit.ts'
import { Empty, Loaded } from '../../ui/states.tsx'
import { OrderCard } from './order-card.tsx'
import { MAX_PASSES, Passes, PassLegend, STANDARD_DEG, WIDEST_DEG } from './passes.tsx'
import { TemplateChoice } from './template-choice.tsx'
import { defaultWindow, useTaskingDraft, type Sensor, type TaskingDraft } from './use-tasking-draft.ts'
import { classes } from '../../ui/classes.ts'
import listStyles from '../../ui/list.module.css'
import ui from '../../ui/ui.module.css'

const stepText = (step: string) => (step === 'feasibility' ? 'a feasibility study' : 'a quotation')

export function NewTasking(): ReactElement {
  const sensors = useOp('orders.tasking.sensors', {}, { staleTime: 300_000 })
  useTitle({ text: 'Tasking', to: '/tasking' }, 'New order')
  return (
    <Page title="New tasking order" about="Nothing is charged now. The vendor responds with a price, and you decide.">
      <Loaded
        query={sensors}
        rows={5}
        empty={({ sensors: list }) => list.length === 0 && <Empty icon="sat" title="No sensors available for tasking" />}
      >
        {({ sensors: list }) => <TaskingForm sensors={list} />}
      </Loaded>
    </Page>
  )
}

function TaskingForm({ sensors }: { sensors: readonly Sensor[] }): ReactElement {
  const draft = useTaskingDraft(sensors)
  const { url, setUrl, products, product, areas, setAreas, values, setValues } = draft
  return (
    <div className={classes(ui.grid, ui.twoToOne)}>
      <div className={classes(ui.flexColumn, ui.gap16)}>
        <Card
          title="Areas"
          aside={
            <span className={classes(ui.soft, ui.small)}>
              {areas.length === 0 ? 'Draw or enter them' : `${plural(areas.length, 'area')}, ${sizeOf(areas)}`}
              {product.maxSqKm !== null && `, maximum ${squareKilometres(product.maxSqKm)} each`}
            </span>
          }
          flush
        >
          <CardMap
            label="Areas of the order"
            area={areas.length === 0 ? null : { type: 'MultiPolygon', coordinates: areas.map(({ coordinates }) => coordinates) }}
          >
            <AreaTools onArea={(area) => area && setAreas([...areas, area])} />
          </CardMap>
          <ul>
            {areas.map((area, index) => (
              <li key={encodeArea(area)} className={listStyles.entry}>
                <span className={ui.grow}>
                  <b>Area {index + 1}</b> <span className={ui.soft}>{areaText(areaOf(area))}</span>
                </span>
                <Button
                  size="s"
                  variant="quiet"
                  icon="x"
                  label={`Remove area ${index + 1}`}
                  onClick={() => setAreas(areas.filter((other) => other !== area))}
                />
              </li>
            ))}
          </ul>
        </Card>
        <Card title="Requirements" aside={<TemplateChoice draft={draft} />}>
          <div className={classes(ui.flexColumn, ui.gap16)}>
            <Choice
              label="Product"
              value={product.name}
              onChange={(event) => setUrl({ product: event.target.value })}
              options={products.map(({ sensor, product: option }) => ({ value: option.name, text: `${sensor.title}: ${option.title}` }))}
              help={`Requires ${product.steps.map(stepText).join(', then ')}.`}
            />
            <SchemaForm schema={product.constraints as Schema} values={values} errors={[]} onChange={setValues} />
            <Field
              label="Order name"
              maxLength={255}
              defaultValue={url['name'] ?? ''}
              placeholder="e.g. Harbour, weekly"
              onBlur={(event) => setUrl({ name: event.target.value || null })}
            />
          </div>
        </Card>
        <PassCard draft={draft} />
      </div>
      <OrderCard draft={draft} />
    </div>
  )
}

const sizeOf = (areas: readonly GeoJSON.Polygon[]) => areaText(areas.reduce((sum, area) => sum + areaOf(area), 0))

function PassCard({ draft: { product, areas, params, featureCollection } }: { draft: TaskingDraft }): ReactElement {
  const window = { ...defaultWindow(), ...params }
  const [from, to] = [String(window.acquisitionStart), String(window.acquisitionEnd)]
  const passes = useOp(
    'orders.tasking.opportunities_list',
    {
      dataProduct: product.name,
      featureCollection,
      params: { acquisitionStart: from, acquisitionEnd: to, maxOffNadirAngle: WIDEST_DEG },
      size: MAX_PASSES,
    },
    { enabled: areas.length > 0, keep: true, staleTime: 60_000 },
  )
  return (
    <Card title="Predicted passes" aside={<PassLegend />}>
      {areas.length === 0 ? (
        <p className={ui.soft}>Add an area to see predicted passes.</p>
      ) : (
        <Loaded
          query={passes}
          rows={2}
          empty={({ content }) => content.length === 0 && <p className={ui.soft}>No passes of this product in this window.</p>}
        >
          {({ content }) => <Passes passes={content} from={from} to={to} limit={Number(params['maxOffNadirAngle'] ?? STANDARD_DEG)} />}
        </Loaded>
      )}
    </Card>
  )
}
