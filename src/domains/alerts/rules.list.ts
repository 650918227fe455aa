import Type from 'typebox'
import { Closed, Nullable } from '#core/shapes.ts'
import * as alertRules from '#model/events/alert-rule.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_RULE, RuleRecord, Terms, toRule } from './wire.ts'

/** The organization's rules, newest first. */
export default operation({
  id: 'alerts.rules.list',
  scope: 'alerts:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({
    active: Type.Optional(Nullable(Type.Boolean({ description: 'Only active (`true`) or inactive (`false`) rules' }))),
    collection_id: Type.Optional(Nullable(Terms.collection_id)),
  }),
  output: Closed({
    alert_rules: Type.Array(RuleRecord, { description: 'Alert rules' }),
    count: Type.Integer({ description: 'Number of results returned' }),
  }),
  example: { input: { active: true }, output: { alert_rules: [EXAMPLE_RULE], count: 1 } },
}).handle({
  async execute({ db, principal }, { active, collection_id }) {
    const rules = await alertRules.list(db, principal, requireOrganization(principal), {
      isActive: active ?? null,
      collectionId: collection_id ?? null,
    })
    return { alert_rules: rules.map(toRule), count: rules.length }
  },
})
