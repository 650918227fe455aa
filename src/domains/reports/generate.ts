import Type from 'typebox'
import { newId } from '#core/ids.ts'
import { invalidField, notFound } from '#core/problem.ts'
import { Choice, Closed, Defaulted, Described, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import * as organizations from '#model/identity/organization.ts'
import * as projects from '#model/identity/project.ts'
import * as items from '#model/imagery/item-read.ts'
import * as lineage from '#model/platform/lineage.ts'
import { operation, type Context } from '#operation.ts'
import { keepReport, REPORT_SECONDS } from '#services/documents/report-store.ts'
import { reportCsv, reportJson, type ReportDocument } from '#services/documents/report.ts'
import { EXAMPLE_AT, EXAMPLE_IDS } from '#wire/examples.ts'
import { ItemId } from '#wire/ids.ts'
import { itemBody } from './item.lib.ts'
import { lineageBody } from './lineage.lib.ts'
import { ordersBody, ordersIn } from './orders.lib.ts'
import { parsePeriod, type Period } from './period.lib.ts'
import { projectBody } from './project.lib.ts'
import { usageBody } from './usage.lib.ts'

const REPORT_TYPES = ['usage', 'orders', 'project', 'item', 'lineage'] as const
const TRACED_TYPES = ['item', 'order', 'processing_job', 'collection', 'project'] as const
const FORMATS = { pdf: 'application/pdf', csv: 'text/csv; charset=utf-8', json: 'application/json' } as const
/** Projects that a report of the whole organization records as its sources. */
const MAX_ORIGINS = 200

type Body = Omit<ReportDocument, 'organization' | 'createdAt'>

interface Subject {
  organizationId: string
  origins: readonly { kind: 'project' | 'item' | 'order'; id: string }[]
  compose(context: Context): Promise<Body>
}

/**
 * Generates a report and returns a download URL that is valid for a week: a PDF with a map, charts and tables, a CSV of the
 * main table, or JSON with everything. A lineage report is the whole chain of one object, with the request of each step.
 */
export default operation({
  id: 'reports.generate',
  scope: 'reports:read',
  tier: 'compute',
  produces: ['report:derived_from>project|item|order'],
  input: Closed({
    report_type: Choice(REPORT_TYPES, { description: 'Report type' }),
    project_id: Type.Optional(Nullable(Described(Uuid, 'Project ID, for project and order reports'))),
    item_id: Type.Optional(Nullable(Described(ItemId, 'Item ID, for item reports'))),
    entity_type: Type.Optional(Nullable(Choice(TRACED_TYPES, { description: 'Type of the object that a lineage report traces' }))),
    entity_id: Type.Optional(
      Nullable(Type.String({ minLength: 1, maxLength: 256, description: 'ID of the object that a lineage report traces' })),
    ),
    period: Type.Optional(
      Nullable(
        Type.String({
          maxLength: 60,
          description:
            'Period of usage and order reports: a month (`2026-03`), a year or an interval (`2026-03-01/2026-04-15`); default: this month',
        }),
      ),
    ),
    format: Defaulted(Choice(['pdf', 'csv', 'json']), 'pdf', { description: 'Report format' }),
  }),
  output: Closed(
    {
      id: Described(Uuid, 'Report ID in the lineage'),
      report_type: Choice(REPORT_TYPES, { description: 'Report type' }),
      format: Choice(['pdf', 'csv', 'json'], { description: 'Report format' }),
      url: Type.String({ description: 'Download URL' }),
      expires_in_seconds: Type.Integer({ description: 'Seconds until the URL expires' }),
      size_bytes: Type.Integer({ description: 'Report size in bytes' }),
      created_at: Described(Timestamp, 'Creation time'),
    },
    { description: 'The generated report' },
  ),
  example: {
    input: { report_type: 'project', project_id: EXAMPLE_IDS.project },
    output: {
      id: '0199f2c6-7777-7abc-8def-0123456789ab',
      report_type: 'project',
      format: 'pdf',
      url: 'https://store.imagery.example/reports/2026-03-01/report.pdf?expires=1772358300&signature=…',
      expires_in_seconds: REPORT_SECONDS,
      size_bytes: 182_044,
      created_at: EXAMPLE_AT,
    },
  },
}).handle({
  async check(context, input): Promise<Subject> {
    const { report_type, project_id, item_id, period } = input
    if (period != null && report_type !== 'usage' && report_type !== 'orders')
      throw invalidField('period', `is not allowed for ${report_type} reports, which show the current state`)
    if (report_type === 'item') return await itemSubject(context, item_id)
    if (report_type === 'project') return await projectSubject(context, project_id)
    if (report_type === 'lineage') return await lineageSubject(context, input)
    const organizationId = organizations.requireOrganization(context.principal)
    const reportPeriod = parsePeriod(period, context.clock.now())
    if (report_type === 'orders') return await ordersSubject(context, organizationId, project_id ?? null, reportPeriod)
    const { projects: page } = await projects.list(context.db, context.principal, { includeArchived: true, limit: MAX_ORIGINS, offset: 0 })
    return {
      organizationId,
      origins: page.filter((row) => row.organizationId === organizationId).map(({ id }) => ({ kind: 'project', id })),
      compose: (context) => usageBody(context, organizationId, reportPeriod),
    }
  },
  async prepare(context, { report_type, format }, { organizationId, compose }) {
    const { name } = await organizations.get(context.db, organizationId)
    const document = { ...(await compose(context)), organization: name, createdAt: context.clock.now() }
    const body =
      format === 'pdf'
        ? await context.printer.print(organizationId, 'report', document)
        : format === 'csv'
          ? reportCsv(document)
          : reportJson(document, report_type)
    const id = newId()
    const fileName = `${report_type}-report-${document.createdAt.toISOString().slice(0, 10)}.${format}`
    const { url } = await keepReport(context, {
      organizationId,
      reportId: id,
      ending: format,
      contentType: FORMATS[format],
      body,
      fileName,
    })
    return { id, url, size: body.byteLength }
  },
  async execute({ lineage, clock, attributeTo }, { report_type, format }, { organizationId, origins }, { id, url, size }) {
    attributeTo(organizationId)
    for (const origin of origins) lineage.record('report', id, 'derived_from', origin)
    if (origins.length === 0) lineage.nothingProduced()
    return {
      id,
      report_type,
      format,
      url,
      expires_in_seconds: REPORT_SECONDS,
      size_bytes: size,
      created_at: clock.now().toISOString(),
    }
  },
})

/** A report of the whole organization, or of one project that the caller can read. */
async function ordersSubject(context: Context, organizationId: string, projectId: string | null, period: Period): Promise<Subject> {
  if (projectId !== null) await projects.requireReader(context.db, context.principal, projectId)
  const orders = await ordersIn(context, { organizationId, projectId }, period)
  return {
    organizationId,
    origins: orders.map(({ id }) => ({ kind: 'order' as const, id })),
    compose: async () => ordersBody(orders, period),
  }
}

async function projectSubject({ db, principal }: Context, projectId: string | null | undefined): Promise<Subject> {
  if (projectId == null) throw invalidField('project_id', 'is required for project reports')
  const subject = await projects.requireReader(db, principal, projectId)
  return {
    organizationId: subject.organizationId,
    origins: [{ kind: 'project', id: subject.id }],
    compose: (context) => projectBody(context, subject),
  }
}

interface Traced {
  entity_type?: (typeof TRACED_TYPES)[number] | null
  entity_id?: string | null
}

/** For whoever can read the lineage of the object: it is complete as far as they have access. */
async function lineageSubject({ db, principal }: Context, { entity_type, entity_id }: Traced): Promise<Subject> {
  if (entity_type == null) throw invalidField('entity_type', 'is required for lineage reports')
  if (entity_id == null) throw invalidField('entity_id', 'is required for lineage reports')
  const organizationId = organizations.requireOrganization(principal)
  const root = { type: entity_type, id: entity_id }
  const projectId = await lineage.projectOf(db, organizationId, root)
  if (projectId === undefined) throw notFound('artifact')
  if (projectId) await projects.requireLineageReader(db, principal, projectId)
  const origin =
    entity_type === 'item' || entity_type === 'order' || entity_type === 'project'
      ? { kind: entity_type, id: entity_id }
      : projectId && { kind: 'project' as const, id: projectId }
  return { organizationId, origins: origin ? [origin] : [], compose: (context) => lineageBody(context, organizationId, root) }
}

async function itemSubject({ db, principal }: Context, itemId: string | null | undefined): Promise<Subject> {
  if (itemId == null) throw invalidField('item_id', 'is required for item reports')
  const subject = await items.requireReader(db, principal, itemId)
  return {
    organizationId: subject.item.organizationId,
    origins: [{ kind: 'item', id: subject.item.id }],
    compose: (context) => itemBody(context, subject),
  }
}
