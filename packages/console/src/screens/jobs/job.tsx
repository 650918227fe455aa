/** One job: how far it is, what it made, what it cost, and how to run it again. */
import { linkOptions, Link, useNavigate, useParams } from '@tanstack/react-router'
import { useEffect, useState, type ReactElement } from 'react'
import type { ProcessingJob } from '../../api/contract.ts'
import { useAct, useOp } from '../../api/query.ts'
import type { Box } from '../../map/geo.ts'
import { useTitle } from '../../state/crumbs.ts'
import { isTyping } from '../../ui/keys.ts'
import { mayWrite, useProjects, useWho } from '../../state/who.ts'
import { AuthImage, tileOf } from '../../ui/auth-image.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ago, audOfCredits, count, dateTime, plural } from '../../ui/format.ts'
import { Badge, Bar, Button, Card, CopyButton, Facts, LinkButton, Note, Page } from '../../ui/kit.ts'
import { FormProblem, WaitingPage } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { CardMap } from '../../parts/areas/card-map.tsx'
import { Downloads } from '../../parts/downloads.tsx'
import { isUnderWay, jobName, SAID, useCanRunAgain, useProcessNames } from './job-states.ts'
import { classes } from '../../ui/classes.ts'
import styles from './jobs.module.css'
import codeStyles from '../../ui/code.module.css'
import listStyles from '../../ui/list.module.css'
import ui from '../../ui/ui.module.css'

const LOOK_EVERY_MS = 3_000

export function JobPage(): ReactElement {
  const { id } = useParams({ from: '/inside/jobs/$id' })
  const job = useOp(
    'processing.job.get',
    { job_id: id },
    { staleTime: 0, refetchInterval: LOOK_EVERY_MS, while: ({ job }) => isUnderWay(job) },
  )
  useTitle({ text: 'Jobs', to: '/jobs' }, 'Job')
  if (!job.data) return <WaitingPage title="Job" query={job} />
  return <OneJob job={job.data.job} />
}

function OneJob({ job }: { job: ProcessingJob }): ReactElement {
  const nameOf = useProcessNames()
  const said = SAID[job.status]
  const again = linkOptions({
    to: '/processes/$id',
    params: { id: job.job_type_id },
    search: { in: JSON.stringify(job.input_params) },
  })
  const navigate = useNavigate()
  const canRunAgain = useCanRunAgain(job.job_type_id)
  useAgainKey(() => {
    if (canRunAgain) void navigate(again)
  })
  const [first] = job.output_item_ids
  return (
    <Page
      title={
        <span className={classes(ui.flexRow, ui.gap8, ui.wrap)}>
          {jobName(job, nameOf)} <Badge tone={said.tone}>{said.text}</Badge>
        </span>
      }
      about={`${nameOf(job.job_type_id)}, requested ${ago(job.created_at)}.`}
      actions={
        <>
          <LinkButton icon="flow" to="/lineage/$type/$id" params={{ type: 'processing_job', id: job.id }}>
            Lineage
          </LinkButton>
          {canRunAgain && (
            <LinkButton icon="play" {...again}>
              Run again
            </LinkButton>
          )}
          {isUnderWay(job) && <CancelJob job={job} />}
          <DeleteJob job={job} />
          {first && (
            <LinkButton variant="primary" icon="layers" to="/view/$item" params={{ item: first }}>
              {job.output_item_ids.length === 1 ? 'Open result' : 'Open first result'}
            </LinkButton>
          )}
        </>
      }
    >
      <div className={classes(ui.grid, ui.twoToOne)}>
        <div className={classes(ui.flexColumn, ui.gap16)}>
          <Progress job={job} />
          {job.output_item_ids.length > 0 && <Outputs job={job} />}
          <Card title="Parameters">
            <pre className={codeStyles.code} tabIndex={0} aria-label="Job parameters">
              {JSON.stringify(job.input_params, null, 2)}
            </pre>
          </Card>
        </div>
        <JobFacts job={job} />
      </div>
    </Page>
  )
}

function JobFacts({ job }: { job: ProcessingJob }): ReactElement {
  return (
    <div className={classes(ui.flexColumn, ui.gap16)}>
      <Card title="Cost">
        <Facts
          rows={[
            ['Reserved', <span className={ui.numeric}>{`${count(job.reserved_credits)} credits`}</span>],
            [
              'Charged',
              <span className={ui.numeric}>
                {job.captured_credits === null ? 'when it succeeds' : `${count(job.captured_credits)} credits`}
              </span>,
            ],
            ['In dollars', <span className={ui.numeric}>{audOfCredits(job.captured_credits ?? job.reserved_credits)}</span>],
          ]}
        />
      </Card>
      <Card title="Details">
        <Facts
          rows={[
            ['Job', <CopyButton key="id" text={job.id} label={`${job.id.slice(0, 13)}…`} variant="quiet" />],
            ['Requested', dateTime(job.created_at)],
            ['Begun', dateTime(job.started_at)],
            ['Ended', dateTime(job.completed_at)],
          ]}
        />
        {job.source_item_ids.length > 0 && (
          <>
            <h3 className={styles.subheading}>Inputs</h3>
            <ul className={classes(ui.flexColumn, ui.gap4)}>
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
  )
}

/** For whoever may run jobs in its project. */
function CancelJob({ job }: { job: ProcessingJob }): ReactElement | null {
  const [asked, setAsked] = useState(false)
  const who = useWho()
  const projects = useProjects()
  const cancel = useAct('processing.job.cancel', ['processing', 'billing'])
  if (
    !mayWrite(
      who,
      projects.data?.projects.find(({ id }) => id === job.project_id),
    )
  )
    return null
  const send = () =>
    cancel.mutate(
      { job_id: job.id },
      {
        onSuccess: () => {
          setAsked(false)
          toast('Job cancelled')
        },
      },
    )
  return (
    <>
      <Button onClick={() => setAsked(true)}>Cancel job</Button>
      {asked && (
        <Dialog title="Cancel this job?" onClose={() => setAsked(false)}>
          <div className={classes(ui.flexColumn, ui.gap12)}>
            <p>The job stops and its results are discarded. {count(job.reserved_credits)} reserved credits are released.</p>
            <FormProblem error={cancel.error} />
            <Button variant="danger" busy={cancel.isPending} onClick={send}>
              Cancel job
            </Button>
          </div>
        </Dialog>
      )}
    </>
  )
}

/** For those whom the operator has let in: a job that has not ended is cancelled, what it made stays. */
function DeleteJob({ job }: { job: ProcessingJob }): ReactElement | null {
  const navigate = useNavigate()
  const [asked, setAsked] = useState(false)
  const { canClipAreas } = useWho()
  const remove = useAct('processing.job.delete', ['processing', 'billing'])
  if (!canClipAreas) return null
  const send = () =>
    remove.mutate(
      { job_id: job.id },
      {
        onSuccess: () => {
          toast('Job deleted')
          void navigate({ to: '/jobs' })
        },
      },
    )
  return (
    <>
      <Button variant="danger" onClick={() => setAsked(true)}>
        Delete
      </Button>
      {asked && (
        <Dialog title="Delete job" onClose={() => setAsked(false)}>
          <div className={classes(ui.flexColumn, ui.gap12)}>
            <p>
              {isUnderWay(job)
                ? `The job is cancelled, and ${count(job.reserved_credits)} reserved credits are released.`
                : 'The job is removed permanently. Its results are kept.'}
            </p>
            <FormProblem error={remove.error} />
            <Button variant="danger" busy={remove.isPending} onClick={send}>
              {isUnderWay(job) ? 'Cancel and delete' : 'Delete permanently'}
            </Button>
          </div>
        </Dialog>
      )}
    </>
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
        <b>The job failed.</b> {job.error ?? 'No reason was given.'} {count(job.reserved_credits - (job.captured_credits ?? 0))} credits
        were given back.
      </Note>
    )
  const share = job.status === 'completed' ? 1 : job.progress / 100
  return (
    <Card title="Progress" aside={<span className={classes(ui.soft, ui.numeric)}>{Math.round(share * 100)}%</span>}>
      <Bar label="Job progress" share={share} />
      <p className={classes(ui.soft, ui.small, ui.marginTop8)} role="status">
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
    <Link to="/view/$item" params={{ item: id }}>
      {item.data?.item.name ?? id}
    </Link>
  )
}

function Outputs({ job }: { job: ProcessingJob }): ReactElement {
  const [first] = job.output_item_ids
  const item = useOneItem(first!)
  const box = (item.data?.item.bbox ?? null) as Box | null
  const geometry = item.data?.item.geometry ?? null
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
  const assets = useOp('items.list_assets', { item_id: id }, { staleTime: 60_000 })
  const box = (item.data?.item.bbox ?? null) as Box | null
  return (
    <li className={listStyles.entry}>
      <span className={listStyles.thumbnail}>
        <AuthImage path={tileOf(`/api/v1/items/${encodeURIComponent(id)}`, box)} alt="" />
      </span>
      <div className={ui.grow}>
        <ItemLink id={id} />
        <div className={classes(ui.soft, ui.small)}>{item.data?.item.type.replaceAll('_', ' ')}</div>
      </div>
      <Downloads itemId={id} assets={assets.data ?? []} />
    </li>
  )
}
