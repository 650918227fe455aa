import type { ReactElement } from 'react'
import { useOp } from '../../api/query.ts'
import { Card } from '../../ui/kit.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { ApprovalTable, PendingApprovals } from '../../parts/billing/approvals.tsx'
import { BillingPage } from './page.tsx'

export function Approvals(): ReactElement {
  const all = useOp('billing.approvals.list', {})
  return (
    <BillingPage name="Approvals">
      <div className="col g16">
        <PendingApprovals />
        <Card title="All requests" flush>
          <Loaded
            query={all}
            empty={({ approvals }) =>
              approvals.length === 0 && (
                <Empty icon="check" title="No approval requests">
                  Members above their cap ask here.
                </Empty>
              )
            }
          >
            {({ approvals }) => <ApprovalTable approvals={approvals} />}
          </Loaded>
        </Card>
      </div>
    </BillingPage>
  )
}
