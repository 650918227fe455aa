import type { Context } from '#operation.ts'
import * as order from '#model/orders/order.ts'
import type { ReportDocument } from '#services/documents/report.ts'
import { counted, day, sum, whole } from './figures.lib.ts'
import type { Period } from './period.lib.ts'

type Body = Omit<ReportDocument, 'organization' | 'createdAt'>

/** Orders in a report, newest first. */
const MAX_ORDERS = 500

const EVERY = {
  orderType: null,
  statuses: null,
  subStatuses: null,
  displayName: null,
  products: null,
  ids: null,
  tags: null,
}

/** The orders of a stretch that the caller may see: of one project, or of the whole organization. */
export async function ordersIn(
  { db, principal }: Pick<Context, 'db' | 'principal'>,
  where: { organizationId: string; projectId: string | null },
  { from, to }: Period,
): Promise<order.Order[]> {
  const window = { page: 0, size: MAX_ORDERS, sort: 'createdAt' as const, direction: 'desc' as const }
  const { orders } = await order.list(db, principal, where.organizationId, { ...EVERY, projectId: where.projectId }, window)
  return orders.filter(({ createdAt }) => createdAt >= from && createdAt <= to)
}

/** What was ordered, what came of it and what it cost. */
export function ordersBody(orders: readonly order.Order[], period: Period): Body {
  const spent = sum(orders.map(({ capturedCredits }) => capturedCredits))
  const open = orders.filter(({ status }) => status === 'pending' || status === 'processing' || status === 'awaiting_data')
  return {
    title: 'Orders report',
    subject: 'What was ordered, what came of it and what it cost',
    period: period.label,
    facts: [
      { label: 'Orders', value: whole(orders.length) },
      { label: 'Fulfilled', value: whole(orders.filter(({ status }) => status === 'fulfilled').length) },
      { label: 'Under way', value: whole(open.length) },
      { label: 'Credits spent', value: whole(spent) },
      { label: 'Credits of orders under way', value: whole(sum(open.map(({ estimatedCredits }) => estimatedCredits))) },
      { label: 'Of these simulated', value: whole(orders.filter(({ simulated }) => simulated).length) },
    ],
    map: null,
    charts: [
      {
        title: 'Credits by month',
        unit: 'credits spent',
        kind: 'bars',
        points: byMonth(orders),
      },
      { title: 'By status', unit: 'orders', kind: 'bars', points: counted(orders, ({ status }) => status.replaceAll('_', ' ')) },
    ],
    tables: [
      {
        title: 'Orders, newest first',
        columns: [
          { key: 'display_name', label: 'Name', share: 3 },
          { key: 'order_type', label: 'Kind', share: 1.2 },
          { key: 'status', label: 'Status', share: 1.8 },
          { key: 'created_at', label: 'Ordered', share: 1.7 },
          { key: 'estimated_credits', label: 'Estimated', isNumber: true, share: 1.7 },
          { key: 'captured_credits', label: 'Spent', isNumber: true, share: 1.2 },
          { key: 'id', label: 'Id', share: 5.4 },
        ],
        rows: orders.map((each) => [
          each.displayName,
          each.orderType,
          each.status.replaceAll('_', ' '),
          day(each.createdAt),
          each.estimatedCredits,
          each.capturedCredits,
          each.id,
        ]),
        more: 0,
      },
    ],
  }
}

function byMonth(orders: readonly order.Order[]): { label: string; value: number }[] {
  const months = new Map<string, number>()
  for (const { createdAt, capturedCredits } of orders) {
    const month = createdAt.toISOString().slice(0, 7)
    months.set(month, (months.get(month) ?? 0) + capturedCredits)
  }
  return [...months].map(([label, value]) => ({ label, value })).toSorted((a, b) => a.label.localeCompare(b.label))
}
