import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import * as alertRules from '#model/events/alert-rule.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_RULE, RuleId } from './wire.ts'

/** Deletes a rule. Its alert events stay listed. */
export default operation({
  id: 'alerts.delete_rule',
  scope: 'alerts:write',
  tier: 'destructive',
  input: Closed({ rule_id: RuleId }),
  output: Closed({ deleted: Type.Literal(true, { description: 'Always `true`' }) }, { description: 'Confirmation of the deletion' }),
  example: { input: { rule_id: EXAMPLE_RULE.id }, output: { deleted: true } },
}).handle({
  async check({ db, principal }, { rule_id }) {
    return await alertRules.requireVisible(db, principal, requireOrganization(principal), rule_id)
  },
  async execute({ tx }, _input, { id }) {
    await alertRules.remove(tx, id)
    return { deleted: true as const }
  },
})
