import type { ReactElement } from 'react'
import { useOp } from '../../api/query.ts'
import { Card } from '../../ui/kit.ts'
import { Empty, Loaded } from '../../ui/states.tsx'
import { ApprovalTable, PendingApprovals } from '../../parts/billing/approvals.tsx'
import { BillingPage } from './page.tsx'
import { classes } from '../../ui/classes.ts'
import ui from '../../ui/ui.module.css'

export function Approvals(): ReactElement {
  const all = useOp('billing.approvals.list', {})
  return (
    <BillingPage name="Approvals">
      <div className={classes(ui.flexColumn, ui.gap16)}>
        <PendingApprovals />
        <Card title="All requests" flush>
          <Loaded
            query={all}
            empty={({ approvals }) =>
              approvals.length === 0 && (
                <Empty icon="check" title="No approval requests">
                  Requests from members who exceed their spending cap appear here.
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
