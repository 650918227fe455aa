import { useState, type ReactElement } from 'react'
import type { SpendApproval } from '../../api/contract.ts'
import { useAct, useOp } from '../../api/query.ts'
import { useWho } from '../../state/who.ts'
import { count, dateTime } from '../../ui/format.ts'
import { Button, Note, State } from '../../ui/kit.ts'
import { toast } from '../../ui/toasts.tsx'
import { classes } from '../../ui/classes.ts'
import tableStyles from '../../ui/table.module.css'
import ui from '../../ui/ui.module.css'

/** The name of who asks, where the caller may list members. */
function useNames(): (id: string) => string {
  const who = useWho()
  const members = useOp('organizations.members.list', { organizationId: who.organizationId }, { enabled: who.isAdmin })
  return (id) => (id === who.userId ? 'You' : (members.data?.members.find((member) => member.user_id === id)?.name ?? 'A member'))
}

export function PendingApprovals(): ReactElement | null {
  const pending = useOp('billing.approvals.list', { status: 'pending' })
  if (!pending.data || pending.data.approvals.length === 0) return null
  return (
    <div className={classes(ui.flexColumn, ui.gap8)}>
      {pending.data.approvals.map((approval) => (
        <ApprovalNote key={approval.id} approval={approval} />
      ))}
    </div>
  )
}

function ApprovalNote({ approval }: { approval: SpendApproval }): ReactElement {
  const who = useWho()
  const nameOf = useNames()
  const [key] = useState(() => crypto.randomUUID())
  const approve = useAct('billing.approvals.approve', ['billing', 'orders'], { idempotencyKey: key })
  const reject = useAct('billing.approvals.reject', ['billing'])
  const onError = (error: Error) => void toast(error.message, 'bad')
  return (
    <Note
      tone="warn"
      icon="clock"
      actions={
        who.isAdmin && (
          <>
            <Button size="s" busy={reject.isPending} onClick={() => reject.mutate({ approval_id: approval.id }, { onError })}>
              Reject
            </Button>
            <Button
              size="s"
              variant="primary"
              busy={approve.isPending}
              onClick={() => approve.mutate({ approval_id: approval.id }, { onError, onSuccess: () => void toast('Approved') })}
            >
              Approve once
            </Button>
          </>
        )
      }
    >
      <b>
        {nameOf(approval.requested_by)} requests approval for {count(ceilingOf(approval))} credits.
      </b>{' '}
      {approval.operation !== null && <Described approval={approval} />}
      {approval.reason && <>“{approval.reason}” </>}
      <span className={ui.soft}>Expires {dateTime(approval.expires_at)}.</span>
    </Note>
  )
}

/** The most that an approval can spend. */
const ceilingOf = ({ credits, price_credits }: SpendApproval): number => credits ?? price_credits ?? 0

/** What runs when it is approved, and what that costs. */
function Described({ approval: { operation, credits, price_credits: price } }: { approval: SpendApproval }): ReactElement {
  return (
    <>
      It runs <code>{operation}</code>
      {price !== null && (
        <>
          , which costs <b>{count(price)} credits</b>
        </>
      )}
      . {price !== null && credits !== null && price > credits && <b>That is more than the request allows, so it cannot be approved. </b>}
    </>
  )
}

export function ApprovalTable({ approvals }: { approvals: readonly SpendApproval[] }): ReactElement {
  const nameOf = useNames()
  return (
    <div className={ui.scrollSideways}>
      <table className={classes(tableStyles.table, tableStyles.asRows)}>
        <thead>
          <tr>
            <th>Requested</th>
            <th>By</th>
            <th>For</th>
            <th className={tableStyles.number}>Credits</th>
            <th className={tableStyles.number}>Price</th>
            <th>Status</th>
          </tr>
        </thead>
        <tbody>
          {approvals.map((approval) => (
            <tr key={approval.id}>
              <td>{dateTime(approval.created_at)}</td>
              <td>{nameOf(approval.requested_by)}</td>
              <td>{approval.reason ?? approval.operation ?? '–'}</td>
              <td className={tableStyles.number}>{approval.credits === null ? '–' : count(approval.credits)}</td>
              <td className={tableStyles.number}>{approval.price_credits === null ? '–' : count(approval.price_credits)}</td>
              <td>
                <State of={approval.status} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
