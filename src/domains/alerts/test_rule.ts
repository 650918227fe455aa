import Type from 'typebox'
import { invalidField } from '#core/problem.ts'
import { Closed, Defaulted, Described, Nullable } from '#core/shapes.ts'
import * as alertRules from '#model/events/alert-rule.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import * as items from '#model/imagery/item-read.ts'
import { operation } from '#operation.ts'
import { isMet, meanOf } from '#services/alerts/rule-value.ts'
import { ItemId } from '#wire/ids.ts'
import { comparisonOf, requireTerms } from './terms.lib.ts'
import { EXAMPLE_EVENT, EXAMPLE_RULE, RuleId, Terms } from './wire.ts'

const Unsaved = Closed(
  {
    expression: Terms.expression,
    comparison: Terms.comparison,
    threshold: Terms.threshold,
    threshold_upper: Type.Optional(Nullable(Terms.threshold_upper)),
    asset_key: Defaulted(Terms.asset_key, 'data'),
    band_mapping: Defaulted(Terms.band_mapping, {}),
    aoi_geometry: Type.Optional(Nullable(Terms.aoi_geometry)),
  },
  { description: 'Unsaved rule to test instead of `rule_id`' },
)

/** Evaluates a rule, saved or not, on one item. Nothing is stored and nobody is notified. */
export default operation({
  id: 'alerts.test_rule',
  scope: 'alerts:read',
  tier: 'read',
  input: Closed({
    rule_id: Type.Optional(Nullable(RuleId)),
    rule: Type.Optional(Nullable(Unsaved)),
    item_id: Described(ItemId, 'ID of the item to test the rule on'),
  }),
  output: Closed(
    {
      computed_value: Type.Number({ description: 'Mean of the expression over the item' }),
      threshold: Type.Number({ description: 'Threshold the mean is compared with' }),
      comparison: Type.String({ description: 'Comparison that is applied' }),
      would_trigger: Type.Boolean({ description: 'Whether the rule would fire for this item' }),
      expression: Type.String({ description: 'Evaluated expression' }),
      item_id: Type.String({ description: 'ID of the tested item' }),
    },
    { description: 'Result of the test' },
  ),
  example: {
    input: { rule_id: EXAMPLE_RULE.id, item_id: EXAMPLE_EVENT.item_id },
    output: {
      computed_value: 0.42,
      threshold: 0.4,
      comparison: 'gt',
      would_trigger: true,
      expression: EXAMPLE_RULE.expression,
      item_id: EXAMPLE_EVENT.item_id,
    },
  },
}).handle({
  async check(context, { rule_id, rule, item_id }) {
    const organizationId = requireOrganization(context.principal)
    if ((rule_id == null) === (rule == null)) throw invalidField('rule_id', 'Send exactly one of rule_id and rule')
    const terms = rule_id
      ? await alertRules.requireVisible(context.db, context.principal, organizationId, rule_id)
      : await requireTerms(context, {
          ...UNSAVED,
          expression: rule!.expression,
          comparison: comparisonOf(rule!.comparison),
          threshold: rule!.threshold,
          thresholdUpper: rule!.threshold_upper ?? null,
          assetKey: rule!.asset_key ?? UNSAVED.assetKey,
          bandMapping: rule!.band_mapping ?? UNSAVED.bandMapping,
          aoiGeometry: rule!.aoi_geometry ?? null,
        })
    const { item } = await items.requireReader(context.db, context.principal, item_id)
    return { terms, item }
  },
  async execute(context, _input, { terms, item }) {
    const value = await meanOf(context, item.seq, terms)
    return {
      computed_value: value,
      threshold: terms.threshold,
      comparison: terms.comparison,
      would_trigger: isMet(terms, value),
      expression: terms.expression,
      item_id: item.id,
    }
  },
})

/** The other terms of a rule, which a test does not use. */
const UNSAVED = {
  name: '',
  description: null,
  collectionId: null,
  eventTypes: [],
  assetKey: 'data',
  bandMapping: {},
  notificationChannels: [],
  cooldownMinutes: 0,
  isActive: false,
}
