/** How far an order is, and why it ended. */
import type { ReactElement } from 'react'
import type { Order } from '../../api/contract.ts'
import { isOver } from '../../state/order-states.ts'
import { count } from '../../ui/format.ts'
import { Note } from '../../ui/kit.ts'
import { classes } from '../../ui/classes.ts'
import styles from './progress.module.css'
import ui from '../../ui/ui.module.css'

const STEPS = { done: styles.done, now: styles.current, '': undefined }

export interface StepParts {
  text: string
  when: string
  state: 'done' | 'now' | ''
}

export const Step = ({ text, when, state }: StepParts) => (
  <li className={STEPS[state]} aria-current={state === 'now' ? 'step' : undefined}>
    <i />
    <b>{text}</b>
    <span className={classes(ui.soft, ui.small)}>{when}</span>
  </li>
)

/** Why it came to an end other than the wanted one. */
export function Ended({ order }: { order: Order }): ReactElement | null {
  if (!order.failureReason) return null
  const returned = order.totalCredits - order.capturedCredits
  return (
    <div className={ui.marginTop16}>
      <Note tone={order.status === 'failed' ? 'bad' : 'warn'} icon="warn">
        {order.failureReason}. {isOver(order) && returned > 0 && `${count(returned)} credits were refunded.`}
      </Note>
    </div>
  )
}
