/** Documents to hand on: usage, orders, a project, an item; as PDF, as a table, as data. */
import { Link } from '@tanstack/react-router'
import { useEffect, useState, type ReactElement } from 'react'
import type { Output } from '../../api/contract.ts'
import { useAct, useOp } from '../../api/query.ts'
import { useTitle } from '../../state/crumbs.ts'
import { useUrl } from '../../state/url.ts'
import { useProjects, useWho } from '../../state/who.ts'
import { bytes, dateTime, localTime } from '../../ui/format.ts'
import { Icon } from '../../ui/icons.tsx'
import { Badge, Button, Card, Choice, Field, LinkButton, Page, Segmented } from '../../ui/kit.ts'
import { Empty, FormProblem, Loaded } from '../../ui/states.tsx'
import { classes } from '../../ui/classes.ts'
import newsListStyles from '../../parts/news-list.module.css'
import buttonStyles from '../../ui/button.module.css'
import fieldStyles from '../../ui/field.module.css'
import tableStyles from '../../ui/table.module.css'
import ui from '../../ui/ui.module.css'

type Report = Output<'reports.generate'>
type Kind = Report['report_type']
type Format = Report['format']

/** A report generated in this tab, with its download URL. */
interface GeneratedReport extends Report {
  about: string
}

const KINDS: readonly { value: Kind; text: string; about: string }[] = [
  { value: 'project', text: 'Project', about: 'What a project holds: a map of it, its items by kind and month, its storage.' },
  { value: 'item', text: 'Item', about: 'One item: picture, facts, bands, where it came from.' },
  { value: 'orders', text: 'Orders', about: 'What was ordered in a period, from whom, for how much.' },
  { value: 'usage', text: 'Usage', about: 'Storage, transfer, jobs and credits of the organization in a period.' },
]
const FORMATS: readonly { value: Format; text: string }[] = [
  { value: 'pdf', text: 'PDF' },
  { value: 'csv', text: 'CSV' },
  { value: 'json', text: 'JSON' },
]
const MAX_KEPT = 50
const MAX_ITEMS = 200

const keyOf = (organizationId: string, userId: string) => `gt-reports ${organizationId} ${userId}`

function useGeneratedReports(): [readonly GeneratedReport[], (report: GeneratedReport) => void] {
  const { organizationId, userId } = useWho()
  const key = keyOf(organizationId, userId)
  const [list, setList] = useState<readonly GeneratedReport[]>(() => read(key))
  useEffect(() => setList(read(key)), [key])
  const add = (report: GeneratedReport) => {
    const next = [report, ...list].slice(0, MAX_KEPT)
    sessionStorage.setItem(key, JSON.stringify(next))
    setList(next)
  }
  return [list.filter(({ created_at, expires_in_seconds }) => Date.parse(created_at) + expires_in_seconds * 1000 > Date.now()), add]
}

function read(key: string): readonly GeneratedReport[] {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? '[]') as GeneratedReport[]
  } catch {
    return []
  }
}

export function Reports(): ReactElement {
  const [reports, add] = useGeneratedReports()
  const { isAdmin } = useWho()
  useTitle({ text: 'Library', to: '/library' }, 'Reports')
  return (
    <Page title="Reports" about="Documents to hand on. Each is written from what is here now, and can be downloaded for a week.">
      <div className={classes(ui.grid, ui.twoToOne)}>
        <div className={classes(ui.flexColumn, ui.gap16)}>
          <Card title="Generated in this tab" flush>
            {reports.length === 0 ? (
              <Empty icon="folder" title="No report yet">
                Choose what it is about and make it.
              </Empty>
            ) : (
              <ReportList reports={reports} />
            )}
          </Card>
          {isAdmin && <Earlier />}
        </div>
        <NewReport onGenerated={add} />
      </div>
    </Page>
  )
}

function ReportList({ reports }: { reports: readonly GeneratedReport[] }): ReactElement {
  return (
    <ul className={newsListStyles.news}>
      {reports.map((report) => (
        <li key={report.id}>
          <span className={classes(newsListStyles.mark, newsListStyles.accent)}>
            <Icon name="down" />
          </span>
          <div className={ui.grow}>
            <b className={ui.breakAnywhere}>{report.about}</b>
            <div className={classes(ui.soft, ui.small)}>
              {report.format.toUpperCase()}, {bytes(report.size_bytes)},{' '}
              <span title={localTime(report.created_at)}>{dateTime(report.created_at)}</span>
            </div>
          </div>
          <div className={newsListStyles.actions}>
            <a
              className={classes(buttonStyles.button, buttonStyles.small, buttonStyles.primary)}
              href={report.url}
              target="_blank"
              rel="noreferrer"
              download
              aria-label={`Download ${report.about}, ${report.format}`}
            >
              <Icon name="down" />
              Download
            </a>
            <LinkButton
              size="s"
              variant="quiet"
              icon="flow"
              label="Lineage"
              to="/lineage/$type/$id"
              params={{ type: 'report', id: report.id }}
            />
          </div>
        </li>
      ))}
    </ul>
  )
}

/** From the request log of the organization; only the member who generated a report knows its URL. */
function Earlier(): ReactElement {
  const calls = useOp('organizations.audit.list', { operation: 'reports.generate', limit: 20 })
  return (
    <Card
      title="Generated in the organization"
      aside={
        <Link to="/team/audit" search={{ operation: 'reports.generate' }}>
          Audit log
        </Link>
      }
      flush
    >
      <Loaded query={calls} empty={({ entries }) => entries.length === 0 && <Empty icon="clock" title="No reports yet" />}>
        {({ entries }) => (
          <table className={tableStyles.table}>
            <thead>
              <tr>
                <th>When, UTC</th>
                <th>By</th>
                <th>Answer</th>
                <th className={tableStyles.number}>Took</th>
              </tr>
            </thead>
            <tbody>
              {entries.map((entry) => (
                <tr key={entry.invocation_id}>
                  <td>{dateTime(entry.at)}</td>
                  <td>{entry.api_key_id ? 'key' : entry.principal_kind}</td>
                  <td>
                    <Badge tone={entry.status < 400 ? 'ok' : 'bad'}>{entry.status}</Badge>
                  </td>
                  <td className={tableStyles.number}>{entry.duration_ms} ms</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Loaded>
    </Card>
  )
}

function NewReport({ onGenerated }: { onGenerated(report: GeneratedReport): void }): ReactElement {
  const [url, setUrl] = useUrl()
  const projects = useProjects()
  const generate = useAct('reports.generate', ['organizations.audit'])
  const kind = KINDS.find(({ value }) => value === url['about']) ?? KINDS[0]!
  const format = FORMATS.find(({ value }) => value === url['format'])?.value ?? 'pdf'
  const list = projects.data?.projects ?? []
  const isTimed = kind.value === 'usage' || kind.value === 'orders'
  const isOfProject = kind.value === 'project' || kind.value === 'orders' || kind.value === 'item'
  const projectId = url['project'] ?? (kind.value === 'orders' ? '' : (list[0]?.id ?? ''))
  const items = useOp('items.list', { project_id: projectId, limit: MAX_ITEMS }, { enabled: kind.value === 'item' && projectId !== '' })
  const itemId = url['item'] ?? items.data?.items[0]?.id ?? ''
  const missing = kind.value === 'project' && !projectId ? 'a project' : kind.value === 'item' && !itemId ? 'an item' : null
  const about = [
    kind.text,
    kind.value === 'item'
      ? items.data?.items.find(({ id }) => id === itemId)?.name
      : list.find(({ id }) => isOfProject && id === projectId)?.name,
    isTimed ? (url['period'] ?? 'this month') : null,
  ]
    .filter(Boolean)
    .join(', ')
  const send = () =>
    generate.mutate(
      {
        report_type: kind.value,
        format,
        ...(kind.value === 'project' || (kind.value === 'orders' && projectId) ? { project_id: projectId } : {}),
        ...(kind.value === 'item' ? { item_id: itemId } : {}),
        ...(isTimed && url['period'] ? { period: url['period'] } : {}),
      },
      { onSuccess: (report) => onGenerated({ ...report, about }) },
    )
  return (
    <Card title="New report">
      <form
        className={classes(ui.flexColumn, ui.gap12)}
        onSubmit={(event) => {
          event.preventDefault()
          send()
        }}
      >
        <Choice
          label="About"
          value={kind.value}
          onChange={(event) => setUrl({ about: event.target.value, item: null })}
          options={KINDS.map(({ value, text }) => ({ value, text }))}
          help={kind.about}
        />
        {isOfProject && (
          <Choice
            label="Project"
            value={projectId}
            onChange={(event) => setUrl({ project: event.target.value || null, item: null })}
            options={[
              ...(kind.value === 'orders' ? [{ value: '', text: 'every project' }] : []),
              ...list.map(({ id, name }) => ({ value: id, text: name })),
            ]}
          />
        )}
        {kind.value === 'item' && (
          <Choice
            label="Item"
            value={itemId}
            onChange={(event) => setUrl({ item: event.target.value })}
            options={(items.data?.items ?? []).map(({ id, name }) => ({ value: id, text: name }))}
            help={items.data?.items.length === 0 ? 'This project has no item.' : undefined}
          />
        )}
        {isTimed && (
          <Field
            label="Period"
            placeholder="this month"
            defaultValue={url['period'] ?? ''}
            onChange={(event) => setUrl({ period: event.target.value || null })}
            help="A month (2026-03), a year (2026) or two days (2026-03-01/2026-04-15)."
          />
        )}
        <div>
          <span className={fieldStyles.label}>Format</span>
          <Segmented
            label="Format"
            value={format}
            onChange={(next) => setUrl({ format: next === 'pdf' ? null : next })}
            options={FORMATS}
          />
        </div>
        <FormProblem error={generate.error} />
        <Button
          type="submit"
          variant="primary"
          busy={generate.isPending}
          disabled={missing !== null}
          title={missing ? `It needs ${missing}` : undefined}
        >
          {generate.isPending ? 'Writing it' : 'Create report'}
        </Button>
      </form>
    </Card>
  )
}
