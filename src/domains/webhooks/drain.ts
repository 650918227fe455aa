import Type from 'typebox'
import { Closed, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { drain } from '#services/webhooks/drain.ts'

const DEFAULT_LIMIT = 500

/** Sends all due webhook deliveries now, independently of the workers. */
export default operation({
  id: 'webhooks.drain',
  scope: 'admin:write',
  tier: 'compute',
  input: Closed({
    limit: Type.Optional(
      Nullable(Type.Integer({ minimum: 1, maximum: 2_000, description: `Maximum number of deliveries (default ${DEFAULT_LIMIT})` })),
    ),
  }),
  output: Closed({
    attempted: Type.Integer({ description: 'Number of deliveries attempted' }),
    delivered: Type.Integer({ description: 'Number of successful deliveries' }),
    failed: Type.Integer({ description: 'Number of failed deliveries' }),
  }),
  example: { input: { limit: 100 }, output: { attempted: 3, delivered: 2, failed: 1 } },
}).handle({
  async prepare(context, { limit }) {
    return await drain(context, limit ?? DEFAULT_LIMIT)
  },
  async execute(_context, _input, _facts, drained) {
    return drained
  },
})
