import { Link } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import type { Order } from '../../api/contract.ts'
import { isOver, orderStatus, waitsForDecision } from '../../state/order-states.ts'
import { useProjects } from '../../state/who.ts'
import { audOfCredits, count, dateTimeShort } from '../../ui/format.ts'
import { Badge } from '../../ui/kit.ts'
import { classes } from '../../ui/classes.ts'
import styles from './order-table.module.css'
import tableStyles from '../../ui/table.module.css'
import ui from '../../ui/ui.module.css'

const totalOf = ({ totalCredits, capturedCredits, estimatedCredits, ...order }: Order) =>
  isOver(order) ? capturedCredits : totalCredits || estimatedCredits

export function OrderTable({ orders }: { orders: readonly Order[] }): ReactElement {
  const projects = useProjects()
  const nameOf = (id: string) => projects.data?.projects.find((project) => project.id === id)?.name ?? '–'
  return (
    <table className={classes(tableStyles.table, tableStyles.stacked, styles.orderTable)}>
      <thead>
        <tr>
          <th>Order</th>
          <th>State</th>
          <th>Project</th>
          <th className={tableStyles.number}>Groups</th>
          <th className={tableStyles.number}>Price</th>
          <th>Placed</th>
        </tr>
      </thead>
      <tbody>
        {orders.map((order) => {
          const said = orderStatus(order)
          return (
            <tr key={order.id}>
              <td>
                <Link
                  to={order.orderType === 'tasking' ? '/tasking/$order' : '/orders/$id'}
                  params={order.orderType === 'tasking' ? { order: order.id } : { id: order.id }}
                >
                  <b>{order.displayName}</b>
                </Link>
                <div className={classes(ui.soft, ui.small)}>
                  {order.orderType === 'tasking' ? 'Tasking' : 'Archive'}, {[...new Set(order.groups.map(({ host }) => host))].join(', ')}
                </div>
              </td>
              <td>
                <Badge tone={said.tone}>{said.text}</Badge>
                {waitsForDecision(order) && <span className={ui.screenReaderOnly}> Waiting for you.</span>}
              </td>
              <td className={ui.hideOnPhone}>{nameOf(order.projectId)}</td>
              <td className={classes(tableStyles.number, ui.hideOnPhone)}>{count(order.groups.length)}</td>
              <td className={tableStyles.number}>{audOfCredits(totalOf(order))}</td>
              <td className={classes(ui.soft, ui.hideOnPhone)}>{dateTimeShort(order.createdAt)}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
