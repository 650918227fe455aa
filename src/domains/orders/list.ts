import Type from 'typebox'
import { isUuid } from '#core/ids.ts'
import { invalidField } from '#core/problem.ts'
import { Choice, Closed, Defaulted, Nullable } from '#core/shapes.ts'
import { isIn, ORDER_STATUSES, ORDER_SUB_STATUSES, ORDER_TYPES } from '#core/vocabulary.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import * as orders from '#model/orders/order.ts'
import { operation } from '#operation.ts'
import { filterId } from './filter.lib.ts'
import { PageOf } from '#wire/page.ts'
import { EXAMPLE_ORDER, OrderRecord, toRecord, Window, windowOf } from './wire.ts'

const MAX_LISTED = 100
const SORT = /^(createdAt|updatedAt|status|displayName|type)(?:,(asc|desc))?$/

const Text = (description: string) => Type.Optional(Nullable(Type.String({ maxLength: 4_000, description })))

/** Lists the organization's orders, newest first by default. */
export default operation({
  id: 'orders.list',
  scope: 'orders:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({
    status: Text('Only orders with these statuses, separated by commas'),
    subStatus: Text('Only orders with these tasking states, separated by commas'),
    workspaceId: Text('Only orders of this project'),
    projectId: Text('Same as `workspaceId`'),
    type: Text('Only `ARCHIVE` or `TASKING` orders'),
    orderType: Type.Optional(Nullable(Choice(ORDER_TYPES, { description: 'Only orders of this type' }))),
    displayName: Text('Only orders with this text in their name, case-insensitive'),
    dataProductIds: Text('Only orders of these data products: IDs or names, separated by commas'),
    orderIds: Text('Only orders with these IDs, separated by commas'),
    tags: Type.Optional(
      Nullable(
        Type.Union([Type.String({ maxLength: 4_000 }), Type.Array(Type.String({ maxLength: 100 }), { maxItems: 50 })], {
          description: 'Only orders with all of these tags: an array, or a string separated by commas',
        }),
      ),
    ),
    sort: Defaulted(
      Type.String({
        maxLength: 50,
        description: 'Sort field (`createdAt`, `updatedAt`, `status`, `type` or `displayName`), then `,asc` or `,desc`',
      }),
      'createdAt,desc',
    ),
    ...Window,
  }),
  output: PageOf(OrderRecord, 'Orders'),
  example: { input: { status: 'processing' }, output: { content: [EXAMPLE_ORDER], page: 0, size: 20, totalElements: 1, totalPages: 1 } },
}).handle({
  check: async ({ principal }, input) => {
    const [, sort, direction = 'desc'] = SORT.exec(input.sort) ?? []
    if (!sort) throw invalidField('sort', 'must be createdAt, updatedAt, status, type or displayName, optionally followed by ,asc or ,desc')
    const type = (input.orderType ?? input.type)?.toLowerCase() ?? null
    if (type !== null && !isIn(ORDER_TYPES, type)) throw invalidField('type', 'must be ARCHIVE or TASKING')
    return {
      organizationId: requireOrganization(principal),
      window: { page: input.page, size: input.size, sort: sort as orders.PageOf['sort'], direction: direction as 'asc' | 'desc' },
      filter: {
        projectId: filterId(input.projectId ?? input.workspaceId),
        orderType: type,
        statuses: wordsOf(input.status ?? null, ORDER_STATUSES, 'status'),
        subStatuses: wordsOf(input.subStatus ?? null, ORDER_SUB_STATUSES, 'subStatus'),
        displayName: input.displayName ?? null,
        products: listOf(input.dataProductIds ?? null, 'dataProductIds'),
        ids: listOf(input.orderIds ?? null, 'orderIds')?.filter(isUuid) ?? null,
        tags: typeof input.tags === 'string' ? listOf(input.tags, 'tags') : (input.tags ?? null),
      } satisfies orders.OrderFilter,
    }
  },
  async execute({ db, principal }, _input, { organizationId, filter, window }) {
    const { orders: page, total } = await orders.list(db, principal, organizationId, filter, window)
    return windowOf(page.map(toRecord), window, total)
  },
})

function listOf(text: string | null, field: string): string[] | null {
  if (text === null) return null
  const parts = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
  if (parts.length > MAX_LISTED) throw invalidField(field, `must have at most ${MAX_LISTED} values`)
  return parts
}

function wordsOf<W extends string>(text: string | null, words: readonly W[], field: string): W[] | null {
  return (
    listOf(text, field)?.map((part) => {
      const word = part.toLowerCase()
      if (!isIn(words, word)) throw invalidField(field, `must be one of ${words.join(', ')}`)
      return word
    }) ?? null
  )
}
