/** Asking for new images: areas, requirements, and beside them what it is likely to cost and who passes when. */
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useMemo, useState, type ReactElement } from 'react'
import type { Output } from '../../api/contract.ts'
import { useAct, useOp } from '../../api/query.ts'
import { areaOf, decodeArea, encodeArea } from '../../map/geo.ts'
import { useTitle } from '../../state/crumbs.ts'
import { useUrl } from '../../state/url.ts'
import { mayWrite, useProjects, useWho } from '../../state/who.ts'
import { CallPreview } from '../../ui/call-preview.tsx'
import { area as areaText, audOfCredits, count, plural } from '../../ui/format.ts'
import { Button, Card, Choice, Field, Note, Page } from '../../ui/kit.ts'
import { Empty, FormProblem, Loaded, Skeleton } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { AreaTools } from '../../parts/areas/area-tools.tsx'
import { SchemaForm, type Schema, type Values } from '../../parts/schema-form.tsx'
import { CardMap } from '../../parts/areas/card-map.tsx'
import { LicenceRows, SpendRefusal, useLicences, useSpend, useSpendKey } from '../../parts/orders/spend.tsx'
import { Passes, PassLegend } from './passes.tsx'
import { classes } from '../../ui/classes.ts'
import totalStyles from '../../parts/orders/total.module.css'
import fieldStyles from '../../ui/field.module.css'
import listStyles from '../../ui/list.module.css'
import ui from '../../ui/ui.module.css'

type Sensor = Output<'orders.tasking.sensors'>['sensors'][number]
type Template = Output<'orders.tasking.templates.list'>['templates'][number]

const DAY_MS = 86_400_000
const WINDOW_DAYS = 14
const TYPING_MS = 350
/** Passes are shown up to this angle, so that it is seen what a wider limit would win. */
const WIDEST_DEG = 45
const STANDARD_DEG = 25
const MAX_PASSES = 100
/** Each area is a group of the order, with a study and a price of its own. */
const MAX_AREAS = 20

const collection = (areas: readonly GeoJSON.Polygon[]) => ({
  type: 'FeatureCollection' as const,
  features: areas.map((geometry) => ({ type: 'Feature', properties: {}, geometry })),
})

const dayFrom = (days: number) => `${new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10)}T00:00:00Z`

const stepText = (step: string) => (step === 'feasibility' ? 'a study' : 'a quotation')
const needsStudy = ({ studyRequired }: { studyRequired: boolean }) => studyRequired

export function NewTasking(): ReactElement {
  const sensors = useOp('orders.tasking.sensors', {}, { staleTime: 300_000 })
  useTitle({ text: 'Tasking', to: '/tasking' }, 'New order')
  return (
    <Page title="New tasking order" about="Nothing is charged now: the vendor answers with a price, and you decide.">
      <Loaded
        query={sensors}
        rows={5}
        empty={({ sensors: list }) => list.length === 0 && <Empty icon="sat" title="No sensor can be tasked here" />}
      >
        {({ sensors: list }) => <TaskingForm sensors={list} />}
      </Loaded>
    </Page>
  )
}

/** Areas and requirements are in the address: a reload and a pasted link give the same form. */
function useWish(sensors: readonly Sensor[]) {
  const [url, setUrl] = useUrl()
  const products = sensors.flatMap((sensor) => sensor.dataProducts.map((product) => ({ sensor, product })))
  const chosen = products.find(({ product }) => product.name === url['product']) ?? products[0]!
  const areas = useMemo(() => (url['areas'] ?? '').split(',').flatMap((text) => decodeArea(text) ?? []), [url['areas']])
  const [values, setValues] = useState<Values>(() => {
    const kept = JSON.parse(url['in'] ?? 'null') as Values | null
    return kept ?? { acquisitionStart: dayFrom(1), acquisitionEnd: dayFrom(1 + WINDOW_DAYS) }
  })
  const [params, setParams] = useState(values)
  useEffect(() => {
    const timer = setTimeout(() => {
      setParams(values)
      setUrl({ in: JSON.stringify(values) })
    }, TYPING_MS)
    return () => clearTimeout(timer)
  }, [values, setUrl])
  const setAreas = (next: readonly GeoJSON.Polygon[]) =>
    setUrl({ areas: next.length === 0 ? null : next.slice(0, MAX_AREAS).map(encodeArea).join(',') })
  const featureCollection = useMemo(() => collection(areas), [areas])
  return { url, setUrl, products, ...chosen, areas, setAreas, values, setValues, params, featureCollection }
}

type Wish = ReturnType<typeof useWish>

function TaskingForm({ sensors }: { sensors: readonly Sensor[] }): ReactElement {
  const wish = useWish(sensors)
  const { url, setUrl, products, product, areas, setAreas, values, setValues } = wish
  return (
    <div className={classes(ui.grid, ui.twoToOne)}>
      <div className={classes(ui.flexColumn, ui.gap16)}>
        <Card
          title="Areas"
          aside={
            <span className={classes(ui.soft, ui.small)}>
              {areas.length === 0 ? 'draw or type them' : `${plural(areas.length, 'area')}, ${sizeOf(areas)}`}
              {product.maxSqKm !== null && `; each at most ${count(product.maxSqKm)} km²`}
            </span>
          }
          flush
        >
          <CardMap
            label="The areas to be taken"
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
        <Card title="Requirements" aside={<TemplateChoice wish={wish} />}>
          <div className={classes(ui.flexColumn, ui.gap16)}>
            <Choice
              label="Product"
              value={product.name}
              onChange={(event) => setUrl({ product: event.target.value })}
              options={products.map(({ sensor, product: option }) => ({ value: option.name, text: `${sensor.title}: ${option.title}` }))}
              help={`Before it is taken: ${product.steps.map(stepText).join(', then ')}.`}
            />
            <SchemaForm schema={product.constraints as Schema} values={values} errors={[]} onChange={setValues} />
            <Field
              label="Name of the order"
              maxLength={255}
              defaultValue={url['name'] ?? ''}
              placeholder="For example Harbour, weekly"
              onBlur={(event) => setUrl({ name: event.target.value || null })}
            />
          </div>
        </Card>
        <PassCard wish={wish} />
      </div>
      <Live wish={wish} />
    </div>
  )
}

const sizeOf = (areas: readonly GeoJSON.Polygon[]) => areaText(areas.reduce((sum, area) => sum + areaOf(area), 0))

function PassCard({ wish: { product, areas, params, featureCollection } }: { wish: Wish }): ReactElement {
  const [from, to] = [String(params['acquisitionStart'] ?? dayFrom(1)), String(params['acquisitionEnd'] ?? dayFrom(1 + WINDOW_DAYS))]
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
          empty={({ content }) => content.length === 0 && <p className={ui.soft}>No satellite of this product passes in this window.</p>}
        >
          {({ content }) => <Passes passes={content} from={from} to={to} limit={Number(params['maxOffNadirAngle'] ?? STANDARD_DEG)} />}
        </Loaded>
      )}
    </Card>
  )
}

function Live({ wish }: { wish: Wish }): ReactElement {
  const { url, setUrl, product, areas, params, values, featureCollection } = wish
  const who = useWho()
  const navigate = useNavigate()
  const projects = useProjects()
  const writable = (projects.data?.projects ?? []).filter((project) => mayWrite(who, project))
  const projectId = writable.find(({ id }) => id === url['project'])?.id ?? writable[0]?.id ?? ''
  const asked = { dataProduct: product.name, params: { ...params } }
  const groups = areas.map((area) => ({ ...asked, featureCollection: collection([area]) }))
  const enabled = areas.length > 0
  const estimate = useOp('orders.tasking.estimate', { groups }, { enabled, keep: true })
  const study = useOp('orders.tasking.feasibility_check', { ...asked, featureCollection }, { enabled, keep: true })
  const { open } = useLicences([product.name])
  const input = { projectId, groups, ...(url['name'] ? { displayName: url['name'] } : {}) }
  const spend = useSpend('orders.tasking.place', input, (order) => {
    toast('The vendor is asked')
    void navigate({ to: '/tasking/$order', params: { order: order.id } })
  })
  const missing =
    areas.length === 0
      ? 'Draw an area first'
      : projectId === ''
        ? 'Choose a project to order for'
        : open.length > 0
          ? 'Accept the licence first'
          : estimate.isError || (estimate.data?.errors.length ?? 0) > 0
            ? 'Adjust the area to continue'
            : null
  const isReady = missing === null && values === params && !spend.busy
  useSpendKey(isReady, spend.run)
  return (
    <div className={classes(ui.flexColumn, ui.gap16, ui.sticky)}>
      <Card title="Estimated cost">
        {enabled && !estimate.data && !estimate.isError && <Skeleton rows={1} />}
        {enabled && estimate.data && (
          <>
            <div className={classes(totalStyles.total, totalStyles.first)}>
              <span>{areaText(estimate.data.groups.reduce((sum, { aoi_km2 }) => sum + aoi_km2, 0) * 1e6)}</span>
              <b className={ui.numeric}>{audOfCredits(estimate.data.totalCredits)}</b>
            </div>
            <div className={classes(ui.alignEnd, ui.soft, ui.small, ui.numeric)}>about {count(estimate.data.totalCredits)} credits</div>
            {estimate.data.errors.map(({ index, reason }) => (
              <Note key={index} tone="warn" icon="warn">
                Area {index + 1}: {reason}
              </Note>
            ))}
          </>
        )}
        {enabled && <FormProblem error={estimate.error} />}
        {study.data && enabled && (
          <p className={classes(ui.soft, ui.small, ui.marginTop8)}>
            {study.data.studyRequired
              ? `The vendor studies ${plural(study.data.features.filter(needsStudy).length, 'area')} first and offers options.`
              : 'No study is needed: the vendor quotes a price.'}
          </p>
        )}
        {!enabled && <p className={ui.soft}>An area and a window give an estimate at once.</p>}
        <Choice
          className={ui.marginTop16}
          label="Project"
          value={projectId}
          onChange={(event) => setUrl({ project: event.target.value })}
          options={writable.map(({ id, name }) => ({ value: id, text: name }))}
        />
        <LicenceRows products={[product.name]} />
        <div className={ui.marginTop12}>
          <SpendRefusal spend={spend} />
        </div>
        {!projects.isPending && writable.length === 0 && (
          <Note tone="warn" icon="lock">
            Ordering takes an editor of a project. A project admin can make you one.
          </Note>
        )}
        <Button variant="primary" size="l" wide className={ui.marginTop12} busy={spend.busy} disabled={!isReady} onClick={spend.run}>
          {missing ?? 'Ask the vendor'}
        </Button>
        <p className={classes(fieldStyles.help, ui.center)}>Nothing is reserved until you accept an option or a quotation.</p>
      </Card>
      <CallPreview operation="orders.tasking.place" input={input} />
    </div>
  )
}

function TemplateChoice({ wish }: { wish: Wish }): ReactElement {
  const templates = useOp('orders.tasking.templates.list', {})
  const save = useAct('orders.tasking.templates.save', ['orders.tasking.templates'])
  const { url, setUrl, sensor, values, setValues } = wish
  const list = templates.data?.templates ?? []
  const apply = (template: Template) =>
    setValues({ ...values, cloudCoverage: template.max_cloud_coverage, maxOffNadirAngle: template.max_nadir_angle })
  const wanted = url['template']
  useEffect(() => {
    const template = list.find(({ id }) => id === wanted)
    if (!template) return
    apply(template)
    setUrl({ template: null })
    // Once, when a link brings a template along.
    // oxlint-disable-next-line exhaustive-deps
  }, [wanted, templates.data])
  const keep = () =>
    save.mutate(
      {
        name: url['name'] || `${sensor.title}, ${Number(values['cloudCoverage'] ?? 15)}% cloud`,
        sensor: sensor.id,
        resolution: `${sensor.resolution} m`,
        capture_frequency: 'once',
        datum: 'WGS84',
        file_format: 'COG',
        max_cloud_coverage: Number(values['cloudCoverage'] ?? 15),
        max_nadir_angle: Number(values['maxOffNadirAngle'] ?? STANDARD_DEG),
      },
      { onSuccess: ({ name }) => void toast(`Kept as '${name}'`), onError: (error) => void toast(error.message, 'bad') },
    )
  return (
    <span className={classes(ui.flexRow, ui.gap8)}>
      {list.length > 0 && (
        <Choice
          label="Template"
          hideLabel
          value=""
          onChange={(event) => {
            const template = list.find(({ id }) => id === event.target.value)
            if (template) apply(template)
          }}
          options={[{ value: '', text: 'Use a template' }, ...list.map(({ id, name }) => ({ value: id, text: name }))]}
        />
      )}
      <Button size="s" busy={save.isPending} onClick={keep}>
        Save as template
      </Button>
    </span>
  )
}
