import type { Context } from '#operation.ts'
import * as orders from '#model/orders/order.ts'
import type { ReportDocument } from '#services/documents/report.ts'
import { countBy, day, sum, whole } from './figures.lib.ts'
import type { Period } from './period.lib.ts'

type Body = Omit<ReportDocument, 'organization' | 'createdAt'>

/** Orders in a report, newest first. */
const MAX_ORDERS = 500

const NO_FILTER = {
  orderType: null,
  statuses: null,
  subStatuses: null,
  displayName: null,
  products: null,
  ids: null,
  tags: null,
}

/** Orders of a period that the caller can see, in one project or the whole organization. */
export async function ordersIn(
  { db, principal }: Pick<Context, 'db' | 'principal'>,
  where: { organizationId: string; projectId: string | null },
  { from, to }: Period,
): Promise<orders.Order[]> {
  const window = { page: 0, size: MAX_ORDERS, sort: 'createdAt' as const, direction: 'desc' as const }
  const { orders: page } = await orders.list(db, principal, where.organizationId, { ...NO_FILTER, projectId: where.projectId }, window)
  return page.filter(({ createdAt }) => createdAt >= from && createdAt <= to)
}

/** Orders of a period with their status and cost. */
export function ordersBody(rows: readonly orders.Order[], period: Period): Body {
  const spent = sum(rows.map(({ capturedCredits }) => capturedCredits))
  const open = rows.filter(({ status }) => status === 'pending' || status === 'processing' || status === 'awaiting_data')
  return {
    title: 'Orders report',
    subject: 'Orders, their status and their cost',
    period: period.label,
    facts: [
      { label: 'Orders', value: whole(rows.length) },
      { label: 'Fulfilled', value: whole(rows.filter(({ status }) => status === 'fulfilled').length) },
      { label: 'Open', value: whole(open.length) },
      { label: 'Credits spent', value: whole(spent) },
      { label: 'Estimated credits of open orders', value: whole(sum(open.map(({ estimatedCredits }) => estimatedCredits))) },
      { label: 'Simulated orders', value: whole(rows.filter(({ simulated }) => simulated).length) },
    ],
    map: null,
    charts: [
      {
        title: 'Credits by month',
        unit: 'credits spent',
        kind: 'bars',
        points: byMonth(rows),
      },
      { title: 'By status', unit: 'orders', kind: 'bars', points: countBy(rows, ({ status }) => status.replaceAll('_', ' ')) },
    ],
    tables: [
      {
        title: 'Orders, newest first',
        columns: [
          { key: 'display_name', label: 'Name', share: 3 },
          { key: 'order_type', label: 'Type', share: 1.2 },
          { key: 'status', label: 'Status', share: 1.8 },
          { key: 'created_at', label: 'Ordered', share: 1.7 },
          { key: 'estimated_credits', label: 'Estimated', isNumber: true, share: 1.7 },
          { key: 'captured_credits', label: 'Spent', isNumber: true, share: 1.2 },
          { key: 'id', label: 'ID', share: 5.4 },
        ],
        rows: rows.map((order) => [
          order.displayName,
          order.orderType,
          order.status.replaceAll('_', ' '),
          day(order.createdAt),
          order.estimatedCredits,
          order.capturedCredits,
          order.id,
        ]),
        more: 0,
      },
    ],
  }
}

function byMonth(rows: readonly orders.Order[]): { label: string; value: number }[] {
  const months = new Map<string, number>()
  for (const { createdAt, capturedCredits } of rows) {
    const month = createdAt.toISOString().slice(0, 7)
    months.set(month, (months.get(month) ?? 0) + capturedCredits)
  }
  return [...months].map(([label, value]) => ({ label, value })).toSorted((a, b) => a.label.localeCompare(b.label))
}
