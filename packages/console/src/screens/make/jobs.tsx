/** Jobs: what is being computed, what came of it, what it cost. */
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useEffect, type ReactElement } from 'react'
import type { ProcessingJob } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import type { Box } from '../../map/geo.ts'
import { useTitle } from '../../shell/crumbs.tsx'
import { isTyping } from '../../shell/keys.ts'
import { useUrl } from '../../shell/url.ts'
import { useProjects } from '../../shell/who.ts'
import { AuthImage, tileOf } from '../../ui/auth-image.tsx'
import { ago, audOfCredits, count, dateTime, dateTimeShort, plural } from '../../ui/format.ts'
import { Badge, Bar, Button, Card, Choice, CopyButton, Facts, LinkButton, Note, Page, Segmented, type Tone } from '../../ui/kit.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { CardMap } from '../orders/card-map.tsx'
import { MakeNav } from './nav.tsx'
import { NoProcesses, ProcessGrid } from './process.tsx'

const LOOK_EVERY_MS = 3_000
const PAGE = 25
type Status = ProcessingJob['status']

const SAID: Readonly<Record<Status, { text: string; tone: Tone }>> = {
  pending: { text: 'Waits to be started', tone: 'warn' },
  dispatched: { text: 'Waits for its turn', tone: 'info' },
  running: { text: 'Running', tone: 'info' },
  completed: { text: 'Done', tone: 'ok' },
  failed: { text: 'Failed', tone: 'bad' },
  cancelled: { text: 'Called off', tone: '' },
}
const isUnderWay = ({ status }: Pick<ProcessingJob, 'status'>) => ['pending', 'dispatched', 'running'].includes(status)

const useProcessNames = () => {
  const processes = useOp('processing.catalog.list', {}, { staleTime: 300_000 })
  return (id: string) => processes.data?.processes.find((process) => process.id === id)?.title ?? id.replaceAll('_', ' ')
}

export function Jobs(): ReactElement {
  const [url, setUrl] = useUrl()
  const projects = useProjects()
  const processes = useOp('processing.catalog.list', {}, { staleTime: 300_000 })
  const page = Math.max(0, Number(url['page'] ?? 1) - 1)
  const status = (url['status'] ?? '') as Status | ''
  const isFiltered = status !== '' || url['project'] !== undefined || url['process'] !== undefined
  const jobs = useOp(
    'processing.jobs.list',
    { limit: PAGE, page, status: status || null, workspaceId: url['project'] ?? null, processId: url['process'] ?? null },
    { keep: true, refetchInterval: LOOK_EVERY_MS, while: ({ jobs: list }) => list.some(isUnderWay) },
  )
  useTitle('Jobs')
  return (
    <Page
      title="Jobs"
      about="Computed from your imagery: indices, clips, mosaics, terrain, statistics."
      actions={
        <LinkButton look="primary" icon="bolt" to="/processes">
          Run a process
        </LinkButton>
      }
    >
      <MakeNav />
      <div className="row g8 wrap filter-row mt16">
        <Segmented
          label="State"
          value={status}
          onChange={(next) => setUrl({ status: next || null, page: null })}
          options={[
            { value: '', text: 'All' },
            { value: 'running', text: 'Running' },
            { value: 'completed', text: 'Done' },
            { value: 'failed', text: 'Failed' },
          ]}
        />
        <Choice
          label="Process"
          hideLabel
          value={url['process'] ?? ''}
          onChange={(event) => setUrl({ process: event.target.value || null, page: null })}
          options={[
            { value: '', text: 'Every process' },
            ...(processes.data?.processes ?? []).map(({ id, title }) => ({ value: id, text: title })),
          ]}
        />
        <Choice
          label="Project"
          hideLabel
          value={url['project'] ?? ''}
          onChange={(event) => setUrl({ project: event.target.value || null, page: null })}
          options={[
            { value: '', text: 'Every project' },
            ...(projects.data?.projects ?? []).map(({ id, name }) => ({ value: id, text: name })),
          ]}
        />
      </div>
      <Loaded
        query={jobs}
        rows={5}
        empty={({ total }) =>
          total === 0 &&
          (isFiltered ? (
            <Empty
              title="No jobs like these"
              actions={<Button onClick={() => setUrl({ status: null, project: null, process: null, page: null })}>Show all</Button>}
            />
          ) : (
            <div className="col g16">
              <NoProcesses />
              {processes.data && <ProcessGrid processes={processes.data.processes} />}
            </div>
          ))
        }
      >
        {({ jobs: list, total }) => (
          <Card flush>
            <JobTable jobs={list} />
            {total > PAGE && (
              <div className="row between bd">
                <span className="soft sm">{plural(total, 'job')}</span>
                <span className="row g8">
                  <Button size="s" disabled={page === 0} onClick={() => setUrl({ page: page === 1 ? null : String(page) })}>
                    Newer
                  </Button>
                  <Button size="s" disabled={(page + 1) * PAGE >= total} onClick={() => setUrl({ page: String(page + 2) })}>
                    Older
                  </Button>
                </span>
              </div>
            )}
          </Card>
        )}
      </Loaded>
    </Page>
  )
}

export function JobTable({ jobs }: { jobs: readonly ProcessingJob[] }): ReactElement {
  const projects = useProjects()
  const nameOf = useProcessNames()
  const projectOf = (id: string) => projects.data?.projects.find((project) => project.id === id)?.name ?? '–'
  return (
    <table className="tbl stack">
      <thead>
        <tr>
          <th>Job</th>
          <th>State</th>
          <th>Project</th>
          <th className="n">Credits</th>
          <th>Asked for</th>
        </tr>
      </thead>
      <tbody>
        {jobs.map((job) => (
          <tr key={job.id}>
            <td>
              <Link to="/jobs/$id" params={{ id: job.id } as never}>
                <b>{String(job.input_params['output_name'] ?? nameOf(job.job_type_id))}</b>
              </Link>
              <div className="soft sm">
                {nameOf(job.job_type_id)}, {plural(job.source_item_ids.length, 'item')}
              </div>
            </td>
            <td>
              <Badge tone={SAID[job.status].tone}>{SAID[job.status].text}</Badge>
              {isUnderWay(job) && (
                <div className="job-bar mt4">
                  <Bar label={`Progress of ${nameOf(job.job_type_id)}`} share={job.progress / 100} />
                </div>
              )}
            </td>
            <td className="hide-s">{projectOf(job.project_id)}</td>
            <td className="n hide-s">{count(job.captured_credits ?? job.reserved_credits)}</td>
            <td className="soft hide-s">{dateTimeShort(job.created_at)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

export function JobPage(): ReactElement {
  const { id } = useParams({ strict: false }) as { id: string }
  const job = useOp(
    'processing.job.get',
    { job_id: id },
    { staleTime: 0, refetchInterval: LOOK_EVERY_MS, while: ({ job: one }) => isUnderWay(one) },
  )
  useTitle({ text: 'Jobs', to: '/jobs' }, 'Job')
  if (!job.data)
    return (
      <Page title="Job">
        <Loaded query={job} rows={4}>
          {() => null}
        </Loaded>
      </Page>
    )
  return <OneJob job={job.data.job} />
}

function OneJob({ job }: { job: ProcessingJob }): ReactElement {
  const nameOf = useProcessNames()
  const said = SAID[job.status]
  const again = {
    to: '/processes/$id',
    params: { id: job.job_type_id } as never,
    search: { in: JSON.stringify(job.input_params) } as never,
  }
  const navigate = useNavigate()
  useAgainKey(() => void navigate(again))
  const [first] = job.output_item_ids
  return (
    <Page
      title={
        <span className="row g8 wrap">
          {String(job.input_params['output_name'] ?? nameOf(job.job_type_id))} <Badge tone={said.tone}>{said.text}</Badge>
        </span>
      }
      about={`${nameOf(job.job_type_id)}, asked for ${ago(job.created_at)}.`}
      actions={
        <>
          <LinkButton icon="flow" to="/lineage/$type/$id" params={{ type: 'processing_job', id: job.id } as never}>
            Lineage
          </LinkButton>
          <LinkButton icon="play" {...again}>
            Run again
          </LinkButton>
          {first && (
            <LinkButton look="primary" icon="layers" to="/view/$item" params={{ item: first } as never}>
              {job.output_item_ids.length === 1 ? 'Open the result' : 'Open the first result'}
            </LinkButton>
          )}
        </>
      }
    >
      <div className="grid two-one">
        <div className="col g16">
          <Progress job={job} />
          {job.output_item_ids.length > 0 && <Outputs job={job} />}
          <Card title="Parameters">
            <pre className="code" tabIndex={0} aria-label="Parameters of the job">
              {JSON.stringify(job.input_params, null, 2)}
            </pre>
          </Card>
        </div>
        <div className="col g16">
          <Card title="Money">
            <Facts
              rows={[
                ['Reserved', <span className="num">{`${count(job.reserved_credits)} credits`}</span>],
                [
                  'Charged',
                  <span className="num">
                    {job.captured_credits === null ? 'when it succeeds' : `${count(job.captured_credits)} credits`}
                  </span>,
                ],
                ['In dollars', <span className="num">{audOfCredits(job.captured_credits ?? job.reserved_credits)}</span>],
              ]}
            />
          </Card>
          <Card title="Details">
            <Facts
              rows={[
                ['Job', <CopyButton key="id" text={job.id} label={`${job.id.slice(0, 13)}…`} look="quiet" />],
                ['Asked for', dateTime(job.created_at)],
                ['Begun', dateTime(job.started_at)],
                ['Ended', dateTime(job.completed_at)],
              ]}
            />
            {job.source_item_ids.length > 0 && (
              <>
                <h3 className="sub">Made from</h3>
                <ul className="col g4">
                  {job.source_item_ids.map((item) => (
                    <li key={item}>
                      <ItemLink id={item} />
                    </li>
                  ))}
                </ul>
              </>
            )}
          </Card>
        </div>
      </div>
    </Page>
  )
}

/** R runs it again. */
function useAgainKey(run: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'r' && !isTyping(event) && !event.ctrlKey && !event.metaKey && !event.altKey) run()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [run])
}

function Progress({ job }: { job: ProcessingJob }): ReactElement {
  if (job.status === 'failed')
    return (
      <Note tone="bad" icon="warn">
        <b>It failed.</b> {job.error ?? 'No reason was given.'} {count(job.reserved_credits - (job.captured_credits ?? 0))} credits were
        given back.
      </Note>
    )
  const share = job.status === 'completed' ? 1 : job.progress / 100
  return (
    <Card title="Progress" aside={<span className="soft num">{Math.round(share * 100)}%</span>}>
      <Bar label="Progress of the job" share={share} />
      <p className="soft sm mt8" role="status">
        {job.status === 'completed' ? `Done ${job.completed_at ? ago(job.completed_at) : ''}` : job.stage || SAID[job.status].text}
      </p>
    </Card>
  )
}

function useOneItem(id: string) {
  return useOp('items.get', { item_id: id }, { staleTime: 60_000 })
}

function ItemLink({ id }: { id: string }): ReactElement {
  const item = useOneItem(id)
  return (
    <Link to="/view/$item" params={{ item: id } as never}>
      {item.data?.item.name ?? id}
    </Link>
  )
}

function Outputs({ job }: { job: ProcessingJob }): ReactElement {
  const [first] = job.output_item_ids
  const item = useOneItem(first!)
  const box = (item.data?.item.bbox ?? null) as Box | null
  const geometry = (item.data?.item.geometry ?? null) as unknown as GeoJSON.Geometry | null
  return (
    <Card title={plural(job.output_item_ids.length, 'result')} flush>
      {box && <CardMap label="Map of the result" shapes={[{ id: first!, geometry }]} items={[{ id: first!, box }]} />}
      <ul>
        {job.output_item_ids.map((id) => (
          <OutputRow key={id} id={id} />
        ))}
      </ul>
    </Card>
  )
}

function OutputRow({ id }: { id: string }): ReactElement {
  const item = useOneItem(id)
  const box = (item.data?.item.bbox ?? null) as Box | null
  return (
    <li className="uf">
      <span className="th2">
        <AuthImage path={tileOf(`/api/v1/items/${encodeURIComponent(id)}`, box)} alt="" />
      </span>
      <div className="grow">
        <ItemLink id={id} />
        <div className="soft sm">{item.data?.item.type.replaceAll('_', ' ')}</div>
      </div>
    </li>
  )
}
