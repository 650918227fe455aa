/** A shop for tests: two operations that do with money what orders and jobs do. */
import Type from 'typebox'
import { newId } from '#core/ids.ts'
import { Choice, Closed } from '#core/shapes.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import * as spending from '#model/money/spending.ts'
import { operation } from '#operation.ts'

export const buy = operation({
  id: 'orders.test_buy',
  scope: 'orders:write',
  tier: 'external_spend',
  idempotent: true,
  events: ['credits.low_balance', 'credits.depleted'],
  input: Closed({
    credits: Type.Integer({ minimum: 0 }),
    isJob: Type.Optional(Type.Boolean()),
    product: Type.Optional(Type.String()),
    area: Type.Optional(Type.Number()),
    deadlineSeconds: Type.Optional(Type.Integer()),
    fails: Type.Optional(Type.Boolean()),
  }),
  output: Closed({ id: Type.String(), mode: Type.String() }),
  example: { input: { credits: 10 } },
}).handle({
  check: async ({ principal }) => spending.spenderOf(principal, requireOrganization(principal)),
  prepare: async (context, { credits, isJob }, spender) =>
    await spending.authorize(context, {
      spender,
      credits,
      countsForCaps: !isJob,
      operation: 'orders.test_buy',
      idempotencyKey: context.idempotencyKey,
    }),
  async execute(context, { credits, isJob, product, area, deadlineSeconds, fails }, _spender, funding) {
    const id = newId()
    const deadlineAt = deadlineSeconds ? new Date(context.clock.now().getTime() + deadlineSeconds * 1000) : null
    const { mode } = await spending.reserve(context, funding, {
      reference: { type: isJob ? 'processing_job' : 'order', id },
      lines: [{ product: product ?? null, area_km2: area ?? null, credits }],
      deadlineAt,
    })
    if (fails) throw new Error('the order could not be stored')
    if (context.principal.approval) context.lineage.nothingProduced()
    return { id, mode }
  },
})

export const end = operation({
  id: 'orders.test_end',
  scope: 'orders:write',
  tier: 'external_spend',
  events: ['credits.low_balance', 'credits.depleted'],
  input: Closed({
    id: Type.String(),
    how: Choice(['capture', 'release', 'refund', 'reprice']),
    credits: Type.Optional(Type.Integer()),
    isJob: Type.Optional(Type.Boolean()),
  }),
  output: Closed({ done: Type.Boolean() }),
  example: { input: { id: 'x', how: 'capture' } },
}).handle({
  check: async ({ principal }) => spending.spenderOf(principal, requireOrganization(principal)),
  async prepare(context, { how, credits }, spender) {
    return how === 'reprice'
      ? await spending.authorize(context, {
          spender,
          credits: credits!,
          countsForCaps: true,
          operation: 'orders.test_end',
          idempotencyKey: context.idempotencyKey,
        })
      : null
  },
  async execute(context, { id, how, credits, isJob }, { organizationId }, funding) {
    const reference = { type: isJob ? 'processing_job' : 'order', id }
    if (how === 'reprice') await spending.reprice(context, funding!, reference, [{ product: null, area_km2: null, credits: credits! }])
    const done =
      how === 'reprice'
        ? true
        : how === 'capture'
          ? await spending.capture(context, organizationId, reference, credits)
          : how === 'release'
            ? await spending.release(context, organizationId, reference)
            : await spending.refund(context, organizationId, reference, credits!)
    return { done: done !== null && done !== false }
  },
})
