/** Running a process: a form of its schema, what it costs before the button, and the job after it. */
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useEffect, useMemo, useState, type ReactElement } from 'react'
import type { Process, ProcessSummary } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { useTitle } from '../../state/crumbs.ts'
import { useUrl } from '../../state/url.ts'
import { mayWrite, useProjects, useWho } from '../../state/who.ts'
import { CallPreview } from '../../ui/call-preview.tsx'
import { area as areaText, audOfCredits, count, plural } from '../../ui/format.ts'
import { Icon, type IconName } from '../../ui/icons.tsx'
import { Button, Card, Choice, Facts, LinkButton, Note, Page } from '../../ui/kit.ts'
import { Empty, FormProblem, Loaded, WaitingPage } from '../../ui/states.tsx'
import { AreaTools } from '../../parts/areas/area-tools.tsx'
import { CardMap } from '../../parts/areas/card-map.tsx'
import { SpendRefusal, useSpend, useSpendKey } from '../../parts/orders/spend.tsx'
import { Payment } from '../../parts/orders/total.tsx'
import { MakeNav } from './nav.tsx'
import { SchemaForm, useItems } from '../../parts/schema-form.tsx'
import type { Schema, Values } from '../../parts/schema-values.ts'
import { exampleFor } from './example-values.ts'
import { classes } from '../../ui/classes.ts'
import totalStyles from '../../parts/orders/total.module.css'
import styles from './jobs.module.css'
import cardStyles from '../../ui/card.module.css'
import ui from '../../ui/ui.module.css'

const TYPING_MS = 350
const CATEGORIES: Readonly<Record<ProcessSummary['category'], { text: string; icon: IconName }>> = {
  bands: { text: 'Bands and indices', icon: 'drop' },
  geometry: { text: 'Shape and grid', icon: 'poly' },
  terrain: { text: 'Terrain', icon: 'layers' },
  time: { text: 'Time series', icon: 'clock' },
  vector: { text: 'Vectorization', icon: 'flow' },
  statistics: { text: 'Statistics', icon: 'ruler' },
  conversion: { text: 'Files', icon: 'down' },
}

const priceOf = ({ price }: ProcessSummary) => `from ${count(price.minimum_credits)} cr, ${price.credits_per_km2} cr/km²`

export function Processes(): ReactElement {
  const processes = useOp('processing.catalog.list', {}, { staleTime: 300_000 })
  useTitle({ text: 'Jobs', to: '/jobs' }, 'Processes')
  return (
    <Page title="Processes" about="Compute results from your imagery. You see the price before you run a job; failed jobs are free.">
      <MakeNav />
      <div className={ui.marginTop16}>
        <Loaded query={processes} rows={6}>
          {(data) => <ProcessGrid processes={data.processes} />}
        </Loaded>
      </div>
    </Page>
  )
}

export function ProcessGrid({ processes }: { processes: readonly ProcessSummary[] }): ReactElement {
  const groups = Object.entries(CATEGORIES).flatMap(([category, said]) => {
    const members = processes.filter((process) => process.category === category && process.created_by === null)
    return members.length > 0 ? [{ ...said, members }] : []
  })
  return (
    <div className={classes(ui.flexColumn, ui.gap16)}>
      {groups.map(({ text, icon, members }) => (
        <section key={text}>
          <h2 className={classes(ui.flexRow, ui.gap6, styles.groupHead)}>
            <Icon name={icon} /> {text}
          </h2>
          <div className={classes(ui.grid, ui.threeColumns, ui.marginTop8)}>
            {members.map((process) => (
              <Link
                key={process.id}
                to="/processes/$id"
                params={{ id: process.id }}
                className={classes(cardStyles.card, styles.processCard)}
              >
                <b>{process.title}</b>
                <span className={classes(ui.soft, ui.small, ui.clamp)}>{process.description}</span>
                <span className={classes(ui.numeric, ui.small)}>{priceOf(process)}</span>
              </Link>
            ))}
          </div>
        </section>
      ))}
    </div>
  )
}

export function ProcessPage(): ReactElement {
  const { id } = useParams({ from: '/inside/processes/$id' })
  const process = useOp('processing.catalog.get', { process_id: id }, { staleTime: 300_000 })
  useTitle({ text: 'Jobs', to: '/jobs' }, { text: 'Processes', to: '/processes' }, process.data?.title ?? id)
  if (!process.data) return <WaitingPage title="Process" query={process} />
  if (process.data.created_by !== null) return <StartedElsewhere process={process.data} />
  return <RunProcess key={id} process={process.data} />
}

/** Jobs such as copies of open scenes start where the scene is shown, because they need its host. */
const StartedElsewhere = ({ process: { title, description } }: { process: Process }): ReactElement => (
  <Page title={title} about={description}>
    <Empty
      icon="search"
      title="Start this job from a scene"
      actions={
        <LinkButton to="/explore" variant="primary">
          Search scenes
        </LinkButton>
      }
    >
      Select an open scene in Explore, then choose Add to library and Copy files.
    </Empty>
  </Page>
)

function readValues(text: string | undefined): Values {
  try {
    return JSON.parse(text ?? '{}') as Values
  } catch {
    return {}
  }
}

/** The parameters live in the address; the address follows typing with a little delay. */
function useValues(): [Values, Values, (values: Values) => void] {
  const [url, setUrl] = useUrl()
  const [values, setValues] = useState<Values>(() => readValues(url['in']))
  const [settled, setSettled] = useState(values)
  useEffect(() => {
    const timer = setTimeout(() => {
      setSettled(values)
      setUrl({ in: Object.keys(values).length === 0 ? null : JSON.stringify(values) })
    }, TYPING_MS)
    return () => clearTimeout(timer)
  }, [values, setUrl])
  return [values, settled, setValues]
}

function RunProcess({ process }: { process: Process }): ReactElement {
  const [values, settled, setValues] = useValues()
  const schema = process.input_schema as Schema
  const { items } = useItems()
  const isFilled = (schema.required ?? []).every((name) => settled[name] !== undefined) && Object.keys(settled).length > 0
  const checked = useOp(
    'processing.catalog.validate',
    { process_id: process.id, inputs: { ...settled } },
    { enabled: isFilled, keep: true },
  )
  const errors = isFilled ? (checked.data?.errors ?? []) : []
  const chosen = useMemo(() => {
    const ids = Object.entries(values).flatMap(([name, value]) => (name.endsWith('item_id') || name === 'item_ids' ? [value].flat() : []))
    return items.filter(({ id }) => ids.includes(id))
  }, [items, values])
  const hasArea = schema.properties?.['geometry'] !== undefined
  return (
    <Page
      title={process.title}
      about={process.description}
      actions={
        Object.keys(process.example).length > 0 && (
          <Button onClick={() => setValues(exampleFor(process.example, values, items))}>Use example values</Button>
        )
      }
    >
      <div className={classes(ui.grid, ui.twoToOne)}>
        <div className={classes(ui.flexColumn, ui.gap16)}>
          <Card title="Parameters">
            <SchemaForm schema={schema} values={values} errors={errors} onChange={setValues} />
          </Card>
          <Card title={hasArea ? 'Area' : 'Input items'} flush>
            <CardMap
              label="Selected items and area"
              area={(values['geometry'] ?? null) as GeoJSON.Geometry | null}
              shapes={chosen.map(({ id, geometry }) => ({ id, geometry: geometry }))}
              items={chosen.flatMap(({ id, bbox }) => (bbox ? [{ id, box: bbox }] : []))}
            >
              {hasArea && <AreaTools onArea={(area) => setValues({ ...values, geometry: area ?? undefined })} />}
            </CardMap>
          </Card>
          <CallPreview operation="processing.execute" input={{ process_id: process.id, inputs: settled }} />
        </div>
        <div className={classes(ui.flexColumn, ui.gap16)}>
          <PriceCard
            process={process}
            values={settled}
            isValid={isFilled && checked.data?.valid === true}
            isChecking={checked.isFetching || values !== settled}
          />
          {checked.isError && <FormProblem error={checked.error} />}
        </div>
      </div>
    </Page>
  )
}

interface PriceParts {
  process: Process
  values: Values
  isValid: boolean
  isChecking: boolean
}

function PriceCard({ process, values, isValid, isChecking }: PriceParts): ReactElement {
  const [url, setUrl] = useUrl()
  const who = useWho()
  const navigate = useNavigate()
  const projects = useProjects()
  const writable = (projects.data?.projects ?? []).filter((project) => mayWrite(who, project))
  const projectId = writable.find(({ id }) => id === url['project'])?.id ?? writable[0]?.id ?? ''
  const estimate = useOp('processing.catalog.estimate', { process_id: process.id, inputs: { ...values } }, { enabled: isValid, keep: true })
  const input = { process_id: process.id, workspaceId: projectId, inputs: { ...values }, wait_seconds: 0 }
  const spend = useSpend('processing.execute', input, ({ job }) => {
    void navigate({ to: '/jobs/$id', params: { id: job.id } })
  })
  const price = isValid ? estimate.data : undefined
  const isReady = price !== undefined && !isChecking && projectId !== '' && !spend.busy
  useSpendKey(isReady, spend.run)
  if (!projects.isPending && writable.length === 0)
    return (
      <Note tone="warn" icon="lock">
        Only project editors can run processes. Ask a project admin for access.
      </Note>
    )
  return (
    <Card title="Price" className={ui.sticky}>
      <div className={classes(totalStyles.total, totalStyles.first)}>
        <span>{price ? areaText(price.area_sq_km * 1e6) : priceOf(process)}</span>
        <b className={ui.numeric}>{price ? audOfCredits(price.credits) : ''}</b>
      </div>
      {price && <div className={classes(ui.alignEnd, ui.soft, ui.small, ui.numeric)}>{plural(price.credits, 'credit')}</div>}
      {price && <Payment credits={price.credits} when="reserved now, charged when it succeeds" />}
      <Choice
        className={ui.marginTop16}
        label="Project"
        value={projectId}
        onChange={(event) => setUrl({ project: event.target.value })}
        options={writable.map(({ id, name }) => ({ value: id, text: name }))}
      />
      <div className={ui.marginTop12}>
        <SpendRefusal spend={spend} />
        {estimate.isError && isValid && <FormProblem error={estimate.error} />}
      </div>
      <Button variant="primary" size="l" wide className={ui.marginTop12} busy={spend.busy} disabled={!isReady} onClick={spend.run}>
        {price ? `Run, ${audOfCredits(price.credits)}` : isChecking ? 'Calculating price…' : 'Complete the required fields'}
      </Button>
      <div className={ui.marginTop12}>
        <Facts
          rows={[
            ['Time limit', `${process.timeout_minutes} minutes`],
            ['If it fails', 'nothing is charged'],
          ]}
        />
      </div>
    </Card>
  )
}

export const NoProcesses = () => (
  <Empty icon="bolt" title="No jobs yet" actions={<LinkButton to="/processes">See all processes</LinkButton>}>
    Choose what to compute; the price comes before the button.
  </Empty>
)
