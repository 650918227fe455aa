/** What can be done with an order: open what it delivered, see its lineage, cancel it. */
import { useState, type ReactElement } from 'react'
import type { Order } from '../../api/contract.ts'
import { isCancellable } from '../../state/order-states.ts'
import { mayWrite, useProjects, useWho } from '../../state/who.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { audOfCredits, count } from '../../ui/format.ts'
import { Button, LinkButton } from '../../ui/kit.ts'
import { FormProblem } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { useSpend } from './spend.tsx'
import { classes } from '../../ui/classes.ts'
import ui from '../../ui/ui.module.css'

export function OrderActions({ order }: { order: Order }): ReactElement {
  const who = useWho()
  const projects = useProjects()
  const [cancelling, setCancelling] = useState(false)
  const project = projects.data?.projects.find(({ id }) => id === order.projectId)
  const [first] = order.itemIds
  return (
    <>
      {isCancellable(order) && mayWrite(who, project) && (
        <Button variant="danger" onClick={() => setCancelling(true)}>
          {order.status === 'pending' ? 'Decline and cancel' : 'Cancel order'}
        </Button>
      )}
      <LinkButton icon="flow" to="/lineage/$type/$id" params={{ type: 'order', id: order.id }}>
        Lineage
      </LinkButton>
      {first && (
        <LinkButton variant="primary" icon="layers" to="/view/$item" params={{ item: first }}>
          {order.itemIds.length === 1 ? 'Open item' : `Open ${order.itemIds.length} items`}
        </LinkButton>
      )}
      {cancelling && <CancelOrder order={order} onClose={() => setCancelling(false)} />}
    </>
  )
}

function CancelOrder({ order, onClose }: { order: Order; onClose(): void }): ReactElement {
  const spend = useSpend('orders.cancel', { id: order.id }, () => {
    toast('Order cancelled')
    onClose()
  })
  return (
    <Dialog title={order.status === 'pending' ? 'Decline and cancel' : 'Cancel order'} onClose={onClose}>
      <div className={classes(ui.flexColumn, ui.gap12)}>
        <p>
          {order.totalCredits > 0
            ? `${count(order.totalCredits)} credits (${audOfCredits(order.totalCredits)}) are refunded.`
            : 'You have not been charged.'}{' '}
          What a vendor has already started cannot be stopped; then nothing changes and you are told.
        </p>
        <FormProblem error={spend.error} />
        <div className={classes(ui.flexRow, ui.gap8)}>
          <Button variant="danger" busy={spend.busy} onClick={spend.run}>
            Cancel &lsquo;{order.displayName}&rsquo;
          </Button>
          <Button onClick={onClose}>Keep order</Button>
        </div>
      </div>
    </Dialog>
  )
}
