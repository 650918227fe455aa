import Type from 'typebox'
import { Closed, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { drain } from '#services/webhooks/drain.ts'

const STANDARD_LIMIT = 500

/** Sends what is due in the webhook queue now, whatever workers do. */
export default operation({
  id: 'webhooks.drain',
  scope: 'admin:write',
  tier: 'compute',
  input: Closed({
    limit: Type.Optional(
      Nullable(Type.Integer({ minimum: 1, maximum: 2_000, description: `How many at most; ${STANDARD_LIMIT} unless said otherwise` })),
    ),
  }),
  output: Closed({
    attempted: Type.Integer({ description: 'Deliveries that were tried' }),
    delivered: Type.Integer({ description: 'Those that succeeded' }),
    failed: Type.Integer({ description: 'Those that did not' }),
  }),
  example: { input: { limit: 100 }, output: { attempted: 3, delivered: 2, failed: 1 } },
}).handle({
  async prepare(context, { limit }) {
    return await drain(context, limit ?? STANDARD_LIMIT)
  },
  async execute(_context, _input, _facts, drained) {
    return drained
  },
})
