import { Closed } from '#core/shapes.ts'
import * as alertRules from '#model/events/alert-rule.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_RULE, RuleId, RuleRecord, toRule } from './wire.ts'

/** One rule, with the error of its last evaluation, if that failed. */
export default operation({
  id: 'alerts.rule.get',
  scope: 'alerts:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({ rule_id: RuleId }),
  output: Closed({ alert_rule: RuleRecord }, { description: 'The alert rule' }),
  example: { input: { rule_id: EXAMPLE_RULE.id }, output: { alert_rule: EXAMPLE_RULE } },
}).handle({
  async execute({ db, principal }, { rule_id }) {
    return { alert_rule: toRule(await alertRules.requireVisible(db, principal, requireOrganization(principal), rule_id)) }
  },
})
