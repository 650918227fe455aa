/** The frame of every page of billing, for those who may see it. */
import type { ReactElement, ReactNode } from 'react'
import { useOp } from '../../api/query.ts'
import { useTitle } from '../../state/crumbs.ts'
import { useWho } from '../../state/who.ts'
import { Badge, Page, SubNav } from '../../ui/kit.ts'
import { Empty } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'

/** Whether what is delivered goes on an invoice instead of a wallet or a card. */
export function useIsOnAccount(): boolean {
  const who = useWho()
  const status = useOp('billing.status.get', { organization_id: who.organizationId }, { enabled: who.isAdmin })
  return status.data?.billing_mode === 'enterprise'
}

const ON_CREDITS = '100 credits are A$1. Credits are reserved when you order, charged on delivery, and refunded if delivery fails.'
const ON_ACCOUNT = 'One invoice per month, for what was delivered.'

export function BillingPage({ name, children, actions }: { name: string; children: ReactNode; actions?: ReactNode }): ReactElement {
  const who = useWho()
  const isOnAccount = useIsOnAccount()
  const pending = useOp('billing.approvals.list', { status: 'pending' }, { enabled: who.isAdmin })
  useTitle({ text: who.organizationName }, ...(name === 'Overview' ? ['Billing'] : [{ text: 'Billing', to: '/billing' }, name]))
  if (!who.isAdmin)
    return (
      <Page title="Billing">
        <Empty icon="lock" tone="warn" title="Billing is for owners and admins">
          Ask an owner or admin for invoices or a higher cap. Your orders are under Orders.
        </Empty>
      </Page>
    )
  const waiting = pending.data?.approvals.length ?? 0
  return (
    <Page
      title={name === 'Overview' ? 'Billing' : name}
      about={name === 'Overview' ? (isOnAccount ? ON_ACCOUNT : ON_CREDITS) : undefined}
      actions={actions}
    >
      <SubNav
        label="Billing"
        links={[
          { to: '/billing', text: 'Overview' },
          { to: '/billing/ledger', text: 'Ledger' },
          { to: '/billing/invoices', text: 'Invoices' },
          { to: '/billing/usage', text: 'Usage' },
          { to: '/billing/cards', text: 'Cards' },
          {
            to: '/billing/approvals',
            text:
              waiting > 0 ? (
                <>
                  Approvals <Badge tone="warn">{waiting}</Badge>
                </>
              ) : (
                'Approvals'
              ),
          },
          { to: '/billing/plan', text: 'Plan' },
          ...(isOnAccount ? [{ to: '/billing/commitments' as const, text: 'Commitments' }] : []),
        ]}
      />
      <div className={ui.marginTop16}>{children}</div>
    </Page>
  )
}
