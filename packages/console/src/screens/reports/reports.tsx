/** Reports on usage, orders, a project or an item, as PDF, CSV or JSON. */
import { Link } from '@tanstack/react-router'
import { useEffect, useState, type ReactElement } from 'react'
import { useOp } from '../../api/query.ts'
import { useTitle } from '../../state/crumbs.ts'
import { useWho } from '../../state/who.ts'
import { bytes, dateTime, localTime } from '../../ui/format.ts'
import { Icon } from '../../ui/icons.tsx'
import { Badge, Card, LinkButton, Page } from '../../ui/kit.ts'
import { Empty, Loaded } from '../../ui/states.tsx'
import { NewReport, type GeneratedReport } from './new-report.tsx'
import { classes } from '../../ui/classes.ts'
import newsListStyles from '../../parts/news-list.module.css'
import buttonStyles from '../../ui/button.module.css'
import tableStyles from '../../ui/table.module.css'
import ui from '../../ui/ui.module.css'

const MAX_KEPT = 50

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
    <Page title="Reports" about="Reports show current data. You can download each one for a week.">
      <div className={classes(ui.grid, ui.twoToOne)}>
        <div className={classes(ui.flexColumn, ui.gap16)}>
          <Card title="Generated in this tab" flush>
            {reports.length === 0 ? (
              <Empty icon="folder" title="No reports in this tab">
                Choose a report type, then create the report.
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
                <th>Time (UTC)</th>
                <th>By</th>
                <th>Status</th>
                <th className={tableStyles.number}>Duration</th>
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
