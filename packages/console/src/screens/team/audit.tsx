/** Every call that was made for the organization. */
import { Link } from '@tanstack/react-router'
import { useState, type ReactElement } from 'react'
import type { AuditEntry } from '../../api/contract.ts'
import { usePages } from '../../api/query.ts'
import { useTitle } from '../../state/crumbs.ts'
import { useUrl } from '../../state/url.ts'
import { useWho } from '../../state/who.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { count, dateTime, localTime } from '../../ui/format.ts'
import { Badge, Card, Facts, Field, Page } from '../../ui/kit.ts'
import { Empty, Loaded, More, NoAccess } from '../../ui/states.tsx'
import { DevelopNav } from '../../parts/develop-nav.tsx'
import { TeamNav } from './nav.tsx'
import { classes } from '../../ui/classes.ts'
import tableStyles from '../../ui/table.module.css'
import ui from '../../ui/ui.module.css'

export function Audit(): ReactElement {
  useTitle({ text: 'Team', to: '/team' }, 'Audit log')
  return (
    <Page wide title="Audit log" about="All API calls of this organization.">
      <TeamNav />
      <AuditLog />
    </Page>
  )
}

export function Requests(): ReactElement {
  useTitle('Develop', 'Requests')
  return (
    <Page wide title="Develop" about="API keys, webhooks and the request log.">
      <DevelopNav />
      <AuditLog />
    </Page>
  )
}

const AuditLog = (): ReactElement =>
  useWho().isAdmin ? <AuditTable /> : <NoAccess>Only owners and admins can read the log of all calls.</NoAccess>

const AUDIT_PAGE = 50

function AuditTable(): ReactElement {
  const [url, setUrl] = useUrl()
  const [open, setOpen] = useState<AuditEntry | null>(null)
  const entries = usePages(
    'organizations.audit.list',
    { operation: url['operation'] || null, from: url['from'] ? new Date(url['from']).toISOString() : null },
    { size: AUDIT_PAGE, key: 'invocation_id', rows: (page) => page.entries },
  )
  return (
    <div className={classes(ui.flexColumn, ui.gap16, ui.marginTop16)}>
      <div className={classes(ui.flexRow, ui.gap12, ui.wrap)}>
        <Field
          label="Operation"
          placeholder="items.create"
          defaultValue={url['operation'] ?? ''}
          onBlur={(event) => setUrl({ operation: event.target.value || null })}
          onKeyDown={(event) => event.key === 'Enter' && setUrl({ operation: event.currentTarget.value || null })}
        />
        <Field label="Since" type="date" value={url['from'] ?? ''} onChange={(event) => setUrl({ from: event.target.value || null })} />
      </div>
      <Card flush>
        <Loaded query={entries.query} rows={8} empty={({ rows }) => rows.length === 0 && <Empty title="No matching calls" />}>
          {({ rows }) => <EntryTable entries={rows} onOpen={setOpen} />}
        </Loaded>
      </Card>
      <More pages={entries} className={classes(ui.flexRow, ui.center)} />
      {open && <EntryDialog entry={open} onClose={() => setOpen(null)} />}
    </div>
  )
}

function EntryTable({ entries, onOpen }: { entries: readonly AuditEntry[]; onOpen(entry: AuditEntry): void }): ReactElement {
  return (
    <div className={ui.scrollSideways}>
      <table className={classes(tableStyles.table, tableStyles.asRows)}>
        <thead>
          <tr>
            <th>Time (UTC)</th>
            <th>Operation</th>
            <th>By</th>
            <th>Status</th>
            <th className={tableStyles.number}>Calls</th>
            <th className={tableStyles.number}>Duration</th>
            <th>Invocation</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <tr key={entry.invocation_id}>
              <td title={localTime(entry.at)}>{dateTime(entry.at)}</td>
              <td className={ui.mono}>{entry.operation}</td>
              <td>{entry.api_key_id ? 'key' : entry.principal_kind}</td>
              <td>
                <Badge tone={entry.status < 400 ? 'ok' : 'bad'}>{entry.status}</Badge>
              </td>
              <td className={tableStyles.number}>{count(entry.calls)}</td>
              <td className={tableStyles.number}>{entry.duration_ms} ms</td>
              <td>
                <button type="button" className={classes(ui.asLink, ui.mono)} onClick={() => onOpen(entry)}>
                  {entry.invocation_id.slice(0, 13)}…
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function EntryDialog({ entry, onClose }: { entry: AuditEntry; onClose(): void }): ReactElement {
  return (
    <Dialog title={entry.operation} onClose={onClose}>
      <Facts
        rows={[
          [
            'Invocation',
            <span key="i" className={classes(ui.mono, ui.breakAnywhere)}>
              {entry.invocation_id}
            </span>,
          ],
          ['When', dateTime(entry.at)],
          ['By', <span key="b" className={classes(ui.mono, ui.breakAnywhere)}>{`${entry.principal_kind} ${entry.principal_id}`}</span>],
          ['Answer', entry.status],
          ['Calls', count(entry.calls)],
          ...(entry.subject === null ? [] : [['Read', entry.subject] as const]),
          [
            'Input digest',
            <span key="d" className={classes(ui.mono, ui.breakAnywhere)}>
              {entry.input_sha256 ?? '–'}
            </span>,
          ],
          [
            'Made',
            <span key="m" className={classes(ui.mono, ui.breakAnywhere)}>
              {entry.artifacts.length === 0 && 'nothing'}
              {entry.artifacts.map((artifact) => (
                <Artifact key={artifact} artifact={artifact} />
              ))}
            </span>,
          ],
        ]}
      />
    </Dialog>
  )
}

/** What a call made, with the way to where it came from. */
function Artifact({ artifact }: { artifact: string }): ReactElement {
  const [type = '', id = ''] = artifact.split(' ')
  return (
    <Link className={ui.block} to="/lineage/$type/$id" params={{ type, id }}>
      {artifact}
    </Link>
  )
}
