import Type from 'typebox'
import { problem } from '#core/problem.ts'
import { Closed, Nullable, type Received } from '#core/shapes.ts'
import * as alertRules from '#model/events/alert-rule.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { comparisonOf, requireTerms } from './terms.lib.ts'
import { EXAMPLE_RULE, RuleId, RuleRecord, Terms, toRule } from './wire.ts'

const Input = Closed({
  rule_id: RuleId,
  name: Type.Optional(Nullable(Terms.name)),
  description: Type.Optional(Nullable(Terms.description)),
  collection_id: Type.Optional(Nullable(Terms.collection_id)),
  event_types: Type.Optional(Nullable(Terms.event_types)),
  expression: Type.Optional(Nullable(Terms.expression)),
  comparison: Type.Optional(Nullable(Terms.comparison)),
  threshold: Type.Optional(Nullable(Terms.threshold)),
  threshold_upper: Type.Optional(Nullable(Terms.threshold_upper)),
  asset_key: Type.Optional(Nullable(Terms.asset_key)),
  band_mapping: Type.Optional(Nullable(Terms.band_mapping)),
  aoi_geometry: Type.Optional(Nullable(Terms.aoi_geometry)),
  notification_channels: Type.Optional(Nullable(Terms.notification_channels)),
  active: Type.Optional(Nullable(Terms.active)),
  cooldown_minutes: Type.Optional(Nullable(Terms.cooldown_minutes)),
})

/**
 * Changes a rule, or switches it on and off. Null clears an optional field and leaves a required one unchanged. The rule is
 * evaluated with the permissions of the user who changed it last, who also receives its notifications.
 */
export default operation({
  id: 'alerts.update_rule',
  scope: 'alerts:write',
  tier: 'compute',
  input: Input,
  output: Closed({ alert_rule: RuleRecord }, { description: 'The updated alert rule' }),
  example: { input: { rule_id: EXAMPLE_RULE.id, active: false }, output: { alert_rule: { ...EXAMPLE_RULE, active: false } } },
}).handle({
  async check(context, input) {
    const rule = await alertRules.requireVisible(context.db, context.principal, requireOrganization(context.principal), input.rule_id)
    const change = changeOf(input)
    if (Object.keys(change).length === 0) throw problem('bad-request', 'Nothing to change; send at least one field')
    const { aoiGeometry } = await requireTerms(context, { ...rule, ...change, collectionId: change.collectionId ?? null })
    if (change.aoiGeometry) change.aoiGeometry = aoiGeometry
    // Whoever changes a rule decides what it reveals, so from now on it is evaluated with their permissions.
    const { userId } = context.principal
    return { id: rule.id, change: userId === null ? change : { ...change, userId } }
  },
  async execute({ tx, clock }, _input, { id, change }) {
    return { alert_rule: toRule(await alertRules.update(tx, id, change, clock.now())) }
  },
})

function changeOf(input: Received<typeof Input>): Partial<alertRules.RuleTerms> {
  return {
    ...(input.name == null ? {} : { name: input.name.trim() }),
    ...(input.description === undefined ? {} : { description: input.description }),
    ...(input.collection_id === undefined ? {} : { collectionId: input.collection_id }),
    ...(input.event_types == null ? {} : { eventTypes: input.event_types }),
    ...(input.expression == null ? {} : { expression: input.expression }),
    ...(input.comparison == null ? {} : { comparison: comparisonOf(input.comparison) }),
    ...(input.threshold == null ? {} : { threshold: input.threshold }),
    ...(input.threshold_upper === undefined ? {} : { thresholdUpper: input.threshold_upper }),
    ...(input.asset_key == null ? {} : { assetKey: input.asset_key }),
    ...(input.band_mapping == null ? {} : { bandMapping: input.band_mapping }),
    ...(input.aoi_geometry === undefined ? {} : { aoiGeometry: input.aoi_geometry }),
    ...(input.notification_channels == null ? {} : { notificationChannels: input.notification_channels }),
    ...(input.active == null ? {} : { isActive: input.active }),
    ...(input.cooldown_minutes == null ? {} : { cooldownMinutes: input.cooldown_minutes }),
  }
}
