import Type from 'typebox'
import { invalidField, problem } from '#core/problem.ts'
import { Closed, Described, Nullable } from '#core/shapes.ts'
import * as subscriptions from '#model/events/subscription.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { requireEndpoint } from './endpoint.lib.ts'
import {
  ChangedSubscription,
  Description,
  EndpointUrl,
  EXAMPLE_SUBSCRIPTION,
  FilterConfig,
  HeaderMap,
  SubscriptionId,
  toRecord,
} from './wire.ts'

const Active = Type.Optional(Nullable(Type.Boolean({ description: '`false` pauses deliveries, `true` resumes them' })))

/**
 * Changes, pauses or resumes a subscription, or rotates its secret. Queued deliveries wait while it is paused; a replaced secret
 * signs for another day in addition to the new one. Only its creator, an admin or an owner can change it. A new `endpoint_url`
 * drops the stored headers unless `headers` are sent with it.
 */
export default operation({
  id: 'event_subscriptions.update',
  scope: 'event_subscriptions:write',
  tier: 'compute',
  input: Closed({
    subscription_id: SubscriptionId,
    endpoint_url: Type.Optional(Nullable(EndpointUrl)),
    filter_config: Type.Optional(Nullable(FilterConfig)),
    headers: Type.Optional(Nullable(HeaderMap)),
    active: Active,
    is_active: Described(Active, 'Same as `active`'),
    description: Type.Optional(Description),
    rotate_secret: Type.Optional(
      Nullable(Type.Boolean({ description: 'Whether to replace the signing secret; the new one is shown once' })),
    ),
  }),
  output: ChangedSubscription,
  example: {
    input: { subscription_id: EXAMPLE_SUBSCRIPTION.id, active: false },
    output: { ...EXAMPLE_SUBSCRIPTION, is_active: false },
  },
}).handle({
  async check(context, input) {
    const current = await subscriptions.requireChangeable(
      context.db,
      context.principal,
      requireOrganization(context.principal),
      input.subscription_id,
    )
    if (input.active != null && input.is_active != null && input.active !== input.is_active)
      throw invalidField('is_active', 'must be the same as active')
    const isActive = input.active ?? input.is_active
    const change: subscriptions.SubscriptionChange = {
      ...(input.endpoint_url == null ? {} : { endpointUrl: input.endpoint_url }),
      ...(input.filter_config == null ? {} : { filterConfig: input.filter_config }),
      ...(input.headers == null ? {} : { headers: input.headers }),
      ...(input.description === undefined ? {} : { description: input.description }),
      ...(isActive == null ? {} : { isActive }),
      ...(input.rotate_secret ? { rotateSecret: true } : {}),
    }
    if (Object.keys(change).length === 0) throw problem('bad-request', 'Nothing to change; send at least one field')
    if (change.filterConfig) subscriptions.requireFilter(change.filterConfig)
    if (change.headers) subscriptions.requireHeaders(change.headers)
    if (change.endpointUrl) await requireEndpoint(context, change.endpointUrl)
    // Whoever redirects or resumes deliveries must receive no more than they can read themselves.
    const isRedirected = change.endpointUrl !== undefined || (change.isActive === true && !current.isActive)
    return { id: current.id, change: isRedirected ? { ...change, userId: context.principal.userId } : change }
  },
  async execute({ tx, clock }, _input, { id, change }) {
    const { subscription, secret } = await subscriptions.update(tx, id, change, clock.now())
    return {
      ...toRecord(subscription),
      ...(secret === null ? {} : { signing_secret: secret, previous_secret_until: subscription.previousSecretUntil!.toISOString() }),
    }
  },
})
