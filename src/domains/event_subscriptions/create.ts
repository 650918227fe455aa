import Type from 'typebox'
import { Closed, Defaulted } from '#core/shapes.ts'
import * as subscriptions from '#model/events/subscription.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { requireEndpoint } from './endpoint.lib.ts'
import {
  Description,
  EndpointUrl,
  EventTypeName,
  EXAMPLE_SECRET,
  EXAMPLE_SUBSCRIPTION,
  FilterConfig,
  HeaderMap,
  NewSubscription,
  toRecord,
} from './wire.ts'

/** Delivers every event of one type to an endpoint, signed, at least once. Only this response contains the signing secret. */
export default operation({
  id: 'event_subscriptions.create',
  scope: 'event_subscriptions:write',
  tier: 'share_export',
  input: Closed({
    event_type: EventTypeName,
    endpoint_url: EndpointUrl,
    filter_config: Defaulted(FilterConfig, {}),
    headers: Defaulted(HeaderMap, {}),
    description: Type.Optional(Description),
  }),
  output: NewSubscription,
  example: {
    input: {
      event_type: 'item.created',
      endpoint_url: EXAMPLE_SUBSCRIPTION.endpoint_url,
      filter_config: EXAMPLE_SUBSCRIPTION.filter_config,
      description: EXAMPLE_SUBSCRIPTION.description,
    },
    output: { ...EXAMPLE_SUBSCRIPTION, last_delivery_at: null, last_status: null, signing_secret: EXAMPLE_SECRET },
  },
}).handle({
  async check(context, { endpoint_url, filter_config, headers }) {
    const organizationId = requireOrganization(context.principal)
    subscriptions.requireFilter(filter_config)
    subscriptions.requireHeaders(headers)
    await requireEndpoint(context, endpoint_url)
    return organizationId
  },
  async execute({ tx, principal, clock }, input, organizationId) {
    const { subscription, secret } = await subscriptions.insert(
      tx,
      principal,
      {
        organizationId,
        eventType: input.event_type,
        endpointUrl: input.endpoint_url,
        filterConfig: input.filter_config,
        headers: input.headers,
        description: input.description ?? null,
      },
      clock.now(),
    )
    return { ...toRecord(subscription), signing_secret: secret }
  },
})
