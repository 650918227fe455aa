/** The pages of billing, as the routes name them. */

export { Commitments } from './account.tsx'
export { Approvals } from './approvals-page.tsx'
export { Cards } from './cards-page.tsx'
export { InvoicePage, Invoices } from './invoices.tsx'
export { Ledger } from './ledger.tsx'
export { Overview } from './overview.tsx'
export { PlanPage } from './plan.tsx'
export { Usage } from './usage.tsx'
