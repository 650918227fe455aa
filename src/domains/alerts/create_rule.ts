import Type from 'typebox'
import { Closed, Defaulted, Nullable } from '#core/shapes.ts'
import * as alertRules from '#model/events/alert-rule.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { comparisonOf, requireTerms } from './terms.lib.ts'
import { EXAMPLE_RULE, RuleRecord, Terms, toRule } from './wire.ts'

/** Creates a rule: when the mean of an expression over a new item meets the comparison, users and webhooks are notified. */
export default operation({
  id: 'alerts.create_rule',
  scope: 'alerts:write',
  tier: 'compute',
  input: Closed({
    name: Terms.name,
    description: Type.Optional(Nullable(Terms.description)),
    collection_id: Type.Optional(Nullable(Terms.collection_id)),
    event_types: Defaulted(Terms.event_types, ['item.created']),
    expression: Terms.expression,
    comparison: Terms.comparison,
    threshold: Terms.threshold,
    threshold_upper: Type.Optional(Nullable(Terms.threshold_upper)),
    asset_key: Defaulted(Terms.asset_key, 'data'),
    band_mapping: Defaulted(Terms.band_mapping, {}),
    aoi_geometry: Type.Optional(Nullable(Terms.aoi_geometry)),
    notification_channels: Defaulted(Terms.notification_channels, ['webhook']),
    cooldown_minutes: Defaulted(Terms.cooldown_minutes, 60),
    active: Defaulted(Terms.active, true),
  }),
  output: Closed({ alert_rule: RuleRecord }, { description: 'The created alert rule' }),
  example: {
    input: {
      name: EXAMPLE_RULE.name,
      expression: EXAMPLE_RULE.expression,
      comparison: 'gt',
      threshold: 0.4,
      notification_channels: ['in_app', 'webhook'],
    },
    output: { alert_rule: EXAMPLE_RULE },
  },
}).handle({
  async check(context, input) {
    const organizationId = requireOrganization(context.principal)
    const terms = await requireTerms(context, {
      name: input.name.trim(),
      description: input.description ?? null,
      collectionId: input.collection_id ?? null,
      eventTypes: input.event_types,
      expression: input.expression,
      comparison: comparisonOf(input.comparison),
      threshold: input.threshold,
      thresholdUpper: input.threshold_upper ?? null,
      assetKey: input.asset_key,
      bandMapping: input.band_mapping,
      aoiGeometry: input.aoi_geometry ?? null,
      notificationChannels: input.notification_channels,
      cooldownMinutes: input.cooldown_minutes,
      isActive: input.active,
    })
    return { organizationId, terms }
  },
  async execute({ tx, principal, clock }, _input, { organizationId, terms }) {
    return { alert_rule: toRule(await alertRules.insert(tx, principal, organizationId, terms, clock.now())) }
  },
})
