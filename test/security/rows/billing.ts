import { newId } from '#core/ids.ts'
import type { Org, World } from '../../support/world.ts'
import { cardOnFile, ofOrganization, other, otherOrganization, settledMonth } from '../makers.ts'
import type { Rows } from '../rows.ts'
import { ANYBODY, CHANGES_MONEY, NOBODY, OPERATORS, OPERATORS_ANYWHERE, READS_NAMED_ORGANIZATION, READS_OWN } from '../statuses.ts'

const ownRequest = async (w: World, org: Org) => ({
  approval_id: (await w.ok(org.owner.token, 'billing.approvals.request', { credits: 5 })).id as string,
})
/** A request of somebody else, so that its owner may approve it, and the card that then pays. */
const request = async (w: World, org: Org) => {
  await cardOnFile(w, org)
  const at = w.clock.now()
  const { id } = await w.db
    .insertInto('approval')
    .values({
      id: newId(),
      org_id: org.id,
      requested_by: (await w.person()).id,
      credits: 5,
      created_at: at,
      expires_at: new Date(at.getTime() + 3600_000),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { approval_id: id }
}
const otherApproval = other('approval_id')

export const rows: Rows = {
  'billing.approvals.approve': {
    input: request,
    missing: otherApproval,
    a: `${NOBODY} | 200 200 403 403 | 404 403 | 403 403 403 | 403 403 403 403`,
    b: `${NOBODY} | 404 404 403 403 | 200 403 | 403 403 403 | 403 403 403 403`,
    breaks: 'table approval',
  },
  'billing.approvals.get': {
    input: ownRequest,
    missing: otherApproval,
    a: `${NOBODY} | 200 200 403 403 | 404 403 | 200 200 200 | 403 403 200 403`,
    b: `${NOBODY} | 404 404 404 404 | 200 403 | 404 404 404 | 403 403 404 403`,
    breaks: 'table approval',
  },
  'billing.approvals.list': { ...READS_OWN, input: () => ({}), breaks: 'table approval' },
  'billing.approvals.reject': {
    input: ownRequest,
    missing: otherApproval,
    a: `${NOBODY} | 200 200 403 403 | 404 403 | 403 200 403 | 403 403 200 403`,
    b: `${NOBODY} | 404 404 404 404 | 200 403 | 403 404 403 | 403 403 404 403`,
    breaks: 'table approval',
  },
  'billing.approvals.request': {
    input: () => ({ credits: 5 }),
    a: `${NOBODY} | 200 200 200 200 | 200 403 | 403 200 403 | 403 403 403 403`,
    breaks: 'table approval',
  },
  'billing.auto_topup.get': { ...READS_OWN, input: () => ({}), breaks: 'table wallet' },
  'billing.credits.balance': { ...READS_OWN, input: () => ({}), breaks: 'table wallet' },
  'billing.credits.grant': {
    ...OPERATORS_ANYWHERE,
    missing: otherOrganization,
    input: (_w, org) => ({ organization_id: org.id, credits: 5, reason: 'x' }),
    breaks: 'table ledger_transfer',
  },
  'billing.credits.transactions': { ...READS_OWN, input: () => ({}), breaks: 'table ledger_transfer' },
  'billing.enterprise.accrual': { ...OPERATORS_ANYWHERE, missing: otherOrganization, input: ofOrganization, breaks: 'table reservation' },
  'billing.enterprise.mark_invoiced': {
    ...OPERATORS_ANYWHERE,
    missing: otherOrganization,
    input: (_w, org) => ({ organization_id: org.id, reference: 'x' }),
    breaks: 'table reservation',
  },
  'billing.invoices.get': {
    input: async (w, org) => ({ invoice_id: (await settledMonth(w, org)).id }),
    missing: () => ({ invoice_id: newId() }),
    a: `${NOBODY} | 200 200 200 200 | 404 403 | 200 200 200 | 403 403 200 403`,
    b: `${NOBODY} | 404 404 404 404 | 200 403 | 404 404 404 | 403 403 404 403`,
    breaks: 'table invoice',
  },
  'billing.invoices.list': { ...READS_OWN, input: () => ({}), breaks: 'table invoice' },
  'billing.jobs.settle_unsettled': { input: () => ({}), a: OPERATORS.a, breaks: 'table reservation' },
  'billing.plan.change': { ...CHANGES_MONEY, input: () => ({ plan_id: 'free' }), breaks: 'table organization_plan' },
  'billing.plans.list': { ...ANYBODY, input: () => ({}), breaks: 'column organization.plan_id' },
  'billing.reconciliation.run': {
    ...OPERATORS_ANYWHERE,
    missing: otherOrganization,
    input: ofOrganization,
    breaks: 'table reconciliation',
  },
  'billing.run_monthly_cron': { input: () => ({}), a: OPERATORS.a, breaks: 'column audit.artifacts' },
  'billing.run_monthly_for_org': {
    input: ofOrganization,
    missing: otherOrganization,
    a: `${NOBODY} | 200 200 403 403 | 403 403 | 403 200 403 | 403 200 200 200`,
    b: `${NOBODY} | 403 403 403 403 | 200 403 | 403 403 403 | 403 200 200 200`,
    breaks: 'table commitment',
  },
  'billing.set_auto_topup': {
    ...CHANGES_MONEY,
    input: () => ({ enabled: false, threshold_credits: 1, topup_amount_credits: 10_000 }),
    breaks: 'column wallet.auto_amount',
  },
  'billing.status.get': { ...READS_NAMED_ORGANIZATION, input: ofOrganization, missing: otherOrganization, breaks: 'table wallet' },
  'billing.stripe_invoices.list': {
    input: () => ({}),
    a: `${NOBODY} | 200 200 403 403 | 200 403 | 200 200 200 | 403 403 200 403`,
    breaks: 'table wallet',
  },
  'billing.topup': {
    ...CHANGES_MONEY,
    input: async (w, org) => {
      await cardOnFile(w, org)
      return { aud_cents: 10_000 }
    },
    breaks: 'table payment_method',
  },
}
