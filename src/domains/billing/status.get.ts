import Type from 'typebox'
import { audOf } from '#core/money.ts'
import { Choice, Closed, Described, Uuid } from '#core/shapes.ts'
import * as accruals from '#model/money/accrual.ts'
import { hasDefaultCard, walletOf } from '#model/money/billing-account.ts'
import * as invoices from '#model/money/invoice.ts'
import * as organizations from '#model/identity/organization.ts'
import { requireKnownPlan } from '#model/plans/plan.ts'
import * as storageAccounts from '#model/plans/storage-account.ts'
import { jobsOfMonth } from '#model/plans/usage.ts'
import { operation } from '#operation.ts'
import { Aud, Credits, Currency } from './wire.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'

/** Usage and the plan's limit: bytes stored, or jobs started this month (UTC). */
const Quota = Closed(
  { used: Type.Integer({ description: 'Amount used' }), limit: Type.Integer({ description: 'Amount the plan allows' }) },
  { $id: 'Quota', description: 'A plan limit and its usage' },
)

/** The plan with its quotas, the billing mode, and whether an invoice is past due. */
export default operation({
  id: 'billing.status.get',
  scope: 'billing:read',
  tier: 'read',
  input: Closed({ organization_id: Type.String({ maxLength: 100, description: "Organization ID; must be the caller's organization" }) }),
  output: Closed(
    {
      organization_id: Described(Uuid, 'Organization ID'),
      plan: Type.String({ description: 'Plan ID' }),
      billing_mode: Choice(['credit', 'card', 'enterprise'], { description: 'How spending is paid: credits, card or monthly invoice' }),
      enterprise_billing_status: Choice(['none', 'requested', 'confirmed'], { description: 'Status of the request for monthly invoicing' }),
      subscription_status: Choice(['active', 'past_due'], { description: 'Whether all invoices are paid' }),
      currency: Described(Currency, 'Currency as an ISO 4217 code'),
      balance_credits: Described(Credits, 'Wallet balance in credits, including reserved credits'),
      available_credits: Described(Credits, 'Credits available to spend'),
      uninvoiced_aud: Described(Aud, 'On account: amount for deliveries that are not invoiced yet, in Australian dollars'),
      provisional_aud: Described(Aud, 'On account: provisional amount for open orders, in Australian dollars; corrected when they end'),
      has_default_card: Type.Boolean({ description: 'Whether a default card is saved' }),
      auto_topup_enabled: Type.Boolean({ description: 'Whether automatic top-up is on' }),
      quotas: Closed({ storage_bytes: Quota, compute_jobs: Quota, processing_jobs: Quota }, { description: 'Plan limits and usage' }),
    },
    { description: 'Billing status of the organization' },
  ),
  example: {
    input: { organization_id: EXAMPLE_IDS.organization },
    output: {
      organization_id: EXAMPLE_IDS.organization,
      plan: 'team',
      billing_mode: 'credit',
      enterprise_billing_status: 'none',
      subscription_status: 'active',
      currency: 'AUD',
      balance_credits: 50_000,
      available_credits: 48_800,
      uninvoiced_aud: 0,
      provisional_aud: 0,
      has_default_card: true,
      auto_topup_enabled: false,
      quotas: {
        storage_bytes: { used: 12_884_901_888, limit: 1_099_511_627_776 },
        compute_jobs: { used: 14, limit: 1_000 },
        processing_jobs: { used: 3, limit: 10_000 },
      },
    },
  },
}).handle({
  check: async ({ principal }, { organization_id }) => organizations.requireNamedOrganization(principal, organization_id),
  async execute({ db, clock }, _input, organizationId) {
    const { planId, billingMode, enterpriseStatus } = await organizations.get(db, organizationId)
    const plan = requireKnownPlan(planId)
    const { available, reserved, autoEnabled } = await walletOf(db, organizationId)
    const { finalCredits, provisionalCredits } = await accruals.standing(db, organizationId)
    return {
      organization_id: organizationId,
      plan: planId,
      billing_mode: billingMode,
      enterprise_billing_status: enterpriseStatus,
      subscription_status: (await invoices.isPastDue(db, organizationId)) ? ('past_due' as const) : ('active' as const),
      currency: 'AUD' as const,
      balance_credits: available + reserved,
      available_credits: available,
      uninvoiced_aud: audOf(finalCredits),
      provisional_aud: audOf(provisionalCredits),
      has_default_card: await hasDefaultCard(db, organizationId),
      auto_topup_enabled: autoEnabled,
      quotas: {
        storage_bytes: { used: (await storageAccounts.get(db, organizationId)).usedBytes, limit: plan.storageBytes },
        compute_jobs: { used: (await jobsOfMonth(db, organizationId, 'compute_jobs', clock.now())).used, limit: plan.computeJobs },
        processing_jobs: { used: (await jobsOfMonth(db, organizationId, 'processing_jobs', clock.now())).used, limit: plan.processingJobs },
      },
    }
  },
})
