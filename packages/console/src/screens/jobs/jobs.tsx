/** Jobs: what is being computed, what came of it, what it cost. */
import { Link } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import type { ProcessingJob } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { useTitle } from '../../state/crumbs.ts'
import { useUrl } from '../../state/url.ts'
import { useProjects } from '../../state/who.ts'
import { count, dateTimeShort, plural } from '../../ui/format.ts'
import { Badge, Bar, Button, Card, Choice, LinkButton, Page, Segmented } from '../../ui/kit.ts'
import { Empty, Loaded } from '../../ui/states.tsx'
import { ProjectFilter } from '../../parts/project-filter.tsx'
import { isUnderWay, jobName, SAID, useProcessNames, type Status } from './job-states.ts'
import { MakeNav } from './nav.tsx'
import { NoProcesses, ProcessGrid } from './process.tsx'
import { classes } from '../../ui/classes.ts'
import listPageStyles from '../../parts/list-page.module.css'
import styles from './jobs.module.css'
import cardStyles from '../../ui/card.module.css'
import tableStyles from '../../ui/table.module.css'
import ui from '../../ui/ui.module.css'

const LOOK_EVERY_MS = 3_000
const PAGE = 25
export function Jobs(): ReactElement {
  const [url, setUrl] = useUrl()
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
      about="Indices, clips, mosaics, terrain and statistics computed from your imagery."
      actions={
        <LinkButton variant="primary" icon="bolt" to="/processes">
          Run a process
        </LinkButton>
      }
    >
      <MakeNav />
      <Filters />
      <Loaded
        query={jobs}
        rows={5}
        empty={({ total }) =>
          total === 0 &&
          (isFiltered ? (
            <Empty
              title="No matching jobs"
              actions={<Button onClick={() => setUrl({ status: null, project: null, process: null, page: null })}>Show all</Button>}
            />
          ) : (
            <div className={classes(ui.flexColumn, ui.gap16)}>
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
              <div className={classes(ui.flexRow, ui.between, cardStyles.body)}>
                <span className={classes(ui.soft, ui.small)}>{plural(total, 'job')}</span>
                <span className={classes(ui.flexRow, ui.gap8)}>
                  <Button size="s" disabled={page === 0} onClick={() => setUrl({ page: page === 1 ? null : String(page) }, true)}>
                    Newer
                  </Button>
                  <Button size="s" disabled={(page + 1) * PAGE >= total} onClick={() => setUrl({ page: String(page + 2) }, true)}>
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

/** The filters are the address. */
function Filters(): ReactElement {
  const [url, setUrl] = useUrl()
  const processes = useOp('processing.catalog.list', {}, { staleTime: 300_000 })
  return (
    <div className={classes(ui.flexRow, ui.gap8, ui.wrap, listPageStyles.filterRow, ui.marginTop16)}>
      <Segmented
        label="State"
        value={(url['status'] ?? '') as Status | ''}
        onChange={(next) => setUrl({ status: next || null, page: null }, true)}
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
          { value: '', text: 'All processes' },
          ...(processes.data?.processes ?? []).map(({ id, title }) => ({ value: id, text: title })),
        ]}
      />
      <ProjectFilter />
    </div>
  )
}

export function JobTable({ jobs }: { jobs: readonly ProcessingJob[] }): ReactElement {
  const projects = useProjects()
  const nameOf = useProcessNames()
  const projectOf = (id: string) => projects.data?.projects.find((project) => project.id === id)?.name ?? '–'
  return (
    <table className={classes(tableStyles.table, tableStyles.stacked)}>
      <thead>
        <tr>
          <th>Job</th>
          <th>State</th>
          <th>Project</th>
          <th className={tableStyles.number}>Credits</th>
          <th>Requested</th>
        </tr>
      </thead>
      <tbody>
        {jobs.map((job) => (
          <tr key={job.id}>
            <td>
              <Link to="/jobs/$id" params={{ id: job.id }}>
                <b>{jobName(job, nameOf)}</b>
              </Link>
              <div className={classes(ui.soft, ui.small)}>
                {nameOf(job.job_type_id)}
                {job.source_item_ids.length > 0 && `, ${plural(job.source_item_ids.length, 'item')}`}
              </div>
            </td>
            <td>
              <Badge tone={SAID[job.status].tone}>{SAID[job.status].text}</Badge>
              {isUnderWay(job) && (
                <div className={classes(styles.progress, ui.marginTop4)}>
                  <Bar label={`Progress of ${nameOf(job.job_type_id)}`} share={job.progress / 100} />
                </div>
              )}
            </td>
            <td className={ui.hideOnPhone}>{projectOf(job.project_id)}</td>
            <td className={classes(tableStyles.number, ui.hideOnPhone)}>{count(job.captured_credits ?? job.reserved_credits)}</td>
            <td className={classes(ui.soft, ui.hideOnPhone)}>{dateTimeShort(job.created_at)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
