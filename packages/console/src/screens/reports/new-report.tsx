/** The form that creates a report. Its choices are in the address. */
import type { FormEvent, ReactElement } from 'react'
import type { Output } from '../../api/contract.ts'
import { useAct, useOp } from '../../api/query.ts'
import { useUrl } from '../../state/url.ts'
import { useProjects } from '../../state/who.ts'
import { classes } from '../../ui/classes.ts'
import fieldStyles from '../../ui/field.module.css'
import { Button, Card, Choice, Field, Segmented } from '../../ui/kit.ts'
import { FormProblem } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'

type Report = Output<'reports.generate'>

/** A report generated in this tab, with its download URL. */
export interface GeneratedReport extends Report {
  about: string
}

const KINDS: readonly { value: Report['report_type']; text: string; about: string }[] = [
  { value: 'project', text: 'Project', about: 'Project map, items by type and month, and storage.' },
  { value: 'item', text: 'Item', about: 'Thumbnail, metadata, bands and lineage of one item.' },
  { value: 'orders', text: 'Orders', about: 'Orders in a period, with vendors and costs.' },
  { value: 'usage', text: 'Usage', about: 'Storage, transfer, jobs and credits of the organization in a period.' },
]
const FORMATS: readonly { value: Report['format']; text: string }[] = [
  { value: 'pdf', text: 'PDF' },
  { value: 'csv', text: 'CSV' },
  { value: 'json', text: 'JSON' },
]
const MAX_ITEMS = 200

/** What the address asks for, completed with the first project and the first item. */
function useReportChoices() {
  const [url, setUrl] = useUrl()
  const projects = useProjects().data?.projects ?? []
  const kind = KINDS.find(({ value }) => value === url['about']) ?? KINDS[0]!
  const format = FORMATS.find(({ value }) => value === url['format'])?.value ?? 'pdf'
  const hasPeriod = kind.value === 'usage' || kind.value === 'orders'
  const hasProject = kind.value !== 'usage'
  const projectId = url['project'] ?? (kind.value === 'orders' ? '' : (projects[0]?.id ?? ''))
  const needsItem = kind.value === 'item'
  const itemPage = useOp('items.list', { project_id: projectId, limit: MAX_ITEMS }, { enabled: needsItem && projectId !== '' })
  const items = itemPage.data?.items
  const itemId = url['item'] ?? items?.[0]?.id ?? ''
  const missing = kind.value === 'project' && !projectId ? 'a project' : needsItem && !itemId ? 'an item' : null
  const subject = needsItem ? items?.find(({ id }) => id === itemId)?.name : projects.find(({ id }) => hasProject && id === projectId)?.name
  const period = url['period']
  const about = [kind.text, subject, hasPeriod ? (period ?? 'this month') : null].filter(Boolean).join(', ')
  const input = {
    report_type: kind.value,
    format,
    ...(kind.value === 'project' || (kind.value === 'orders' && projectId) ? { project_id: projectId } : {}),
    ...(needsItem ? { item_id: itemId } : {}),
    ...(hasPeriod && period ? { period } : {}),
  }
  return { setUrl, projects, kind, format, hasPeriod, hasProject, projectId, items, itemId, missing, period, about, input }
}

export function NewReport({ onGenerated }: { onGenerated(report: GeneratedReport): void }): ReactElement {
  const choices = useReportChoices()
  const { setUrl, kind, format, missing, about, input } = choices
  const generate = useAct('reports.generate', ['organizations.audit'])
  const send = (event: FormEvent) => {
    event.preventDefault()
    generate.mutate(input, { onSuccess: (report) => onGenerated({ ...report, about }) })
  }
  return (
    <Card title="New report">
      <form className={classes(ui.flexColumn, ui.gap12)} onSubmit={send}>
        <Choice
          label="Report type"
          value={kind.value}
          onChange={(event) => setUrl({ about: event.target.value, item: null })}
          options={KINDS.map(({ value, text }) => ({ value, text }))}
          help={kind.about}
        />
        <ScopeFields choices={choices} />
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
          title={missing ? `Choose ${missing}` : undefined}
        >
          {generate.isPending ? 'Creating report…' : 'Create report'}
        </Button>
      </form>
    </Card>
  )
}

/** The project, the item and the period, where the report type has them. */
function ScopeFields({ choices }: { choices: ReturnType<typeof useReportChoices> }): ReactElement {
  const { setUrl, projects, kind, hasPeriod, hasProject, projectId, items, itemId, period } = choices
  return (
    <>
      {hasProject && (
        <Choice
          label="Project"
          value={projectId}
          onChange={(event) => setUrl({ project: event.target.value || null, item: null })}
          options={[
            ...(kind.value === 'orders' ? [{ value: '', text: 'All projects' }] : []),
            ...projects.map(({ id, name }) => ({ value: id, text: name })),
          ]}
        />
      )}
      {kind.value === 'item' && (
        <Choice
          label="Item"
          value={itemId}
          onChange={(event) => setUrl({ item: event.target.value })}
          options={(items ?? []).map(({ id, name }) => ({ value: id, text: name }))}
          help={items?.length === 0 ? 'This project has no items.' : undefined}
        />
      )}
      {hasPeriod && (
        <Field
          label="Period"
          placeholder="this month"
          defaultValue={period ?? ''}
          onChange={(event) => setUrl({ period: event.target.value || null })}
          help="A month (2026-03), a year (2026) or a date range (2026-03-01/2026-04-15)."
        />
      )}
    </>
  )
}
