import Type from 'typebox'
import { CreditsInput } from '#core/money-shapes.ts'
import { MAX_CREDITS } from '#core/money.ts'
import { invalidField, notFound, problem } from '#core/problem.ts'
import { Closed, NotBlank, Uuid } from '#core/shapes.ts'
import * as ledgers from '#model/money/ledger.ts'
import * as organizations from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { Credits } from './wire.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'

/** Operators only: grants credits, or removes credits granted by mistake, with the reason in the ledger. */
export default operation({
  id: 'billing.credits.grant',
  scope: 'admin:write',
  tier: 'compute',
  input: Closed({
    organization_id: Uuid,
    credits: CreditsInput(-MAX_CREDITS),
    reason: NotBlank(500),
  }),
  output: Closed({
    organization_id: Uuid,
    credits: Type.Integer(),
    balance_credits: Credits,
    reserved_credits: Credits,
    available_credits: Credits,
  }),
  example: {
    input: { organization_id: EXAMPLE_IDS.organization, credits: 50_000, reason: 'Welcome credits' },
    output: {
      organization_id: EXAMPLE_IDS.organization,
      credits: 50_000,
      balance_credits: 50_000,
      reserved_credits: 0,
      available_credits: 50_000,
    },
  },
}).handle({
  async check({ db }, { organization_id, credits }) {
    if (credits === 0) throw invalidField('credits', 'must not be zero')
    if (!(await organizations.exists(db, organization_id))) throw notFound('organization')
  },
  async execute({ tx, clock, invocationId, attributeTo }, { organization_id, credits, reason }) {
    attributeTo(organization_id)
    const cause = { organizationId: organization_id, invocationId, now: clock.now(), reference: null, description: reason }
    const wallet =
      credits > 0 ? await ledgers.credit(tx, cause, [{ type: 'grant', credits }]) : await ledgers.debit(tx, cause, 'adjustment', -credits)
    if (!wallet) throw problem('bad-request', 'The wallet has fewer available credits than the amount to remove')
    return {
      organization_id,
      credits,
      balance_credits: wallet.available + wallet.reserved,
      reserved_credits: wallet.reserved,
      available_credits: wallet.available,
    }
  },
})
