/** The options of a feasibility study, of which one can be accepted. */
import { useState, type ReactElement } from 'react'
import type { FeasibilityStudy, Order, OrderGroup } from '../../api/contract.ts'
import { SpendRefusal, useSpend, useSpendKey } from '../../parts/orders/spend.tsx'
import { Caps, isAboveCaps, Payment, useCaps } from '../../parts/orders/total.tsx'
import { audOfCredits, count, date, dateShort } from '../../ui/format.ts'
import { Icon } from '../../ui/icons.tsx'
import { Badge, Button, Card } from '../../ui/kit.ts'
import { toast } from '../../ui/toasts.tsx'
import { OrderPasses } from './order-passes.tsx'
import { useMayDecide } from './use-may-decide.ts'
import { classes } from '../../ui/classes.ts'
import styles from './tasking.module.css'
import cardStyles from '../../ui/card.module.css'
import fieldStyles from '../../ui/field.module.css'
import ui from '../../ui/ui.module.css'

interface StudyParts {
  study: FeasibilityStudy
  order: Order
  group: OrderGroup | undefined
}

export function StudyDecision({ study, order, group }: StudyParts): ReactElement {
  const [chosenId, setChosenId] = useState(study.options[0]!.id)
  const caps = useCaps()
  const option = study.options.find(({ id }) => id === chosenId) ?? study.options[0]!
  const letter = (index: number) => String.fromCharCode(65 + index)
  const first = study.options[0]!
  return (
    <div className={classes(ui.grid, ui.twoToOne)}>
      <div className={classes(ui.flexColumn, ui.gap16)}>
        <Card title="Options" aside={<span className={classes(ui.soft, ui.small)}>Valid until {date(study.expiresAt)}</span>} flush>
          <div role="radiogroup" aria-label="Options">
            {study.options.map((option, index) => (
              <label key={option.id} className={option.id === chosenId ? classes(styles.option, styles.selected) : styles.option}>
                <input
                  type="radio"
                  name={`option-${study.id}`}
                  className={styles.optionRadio}
                  checked={option.id === chosenId}
                  onChange={() => setChosenId(option.id)}
                />
                <span className={ui.grow}>
                  <span className={classes(ui.flexRow, ui.gap6, ui.wrap)}>
                    <b className={styles.optionName}>Option {letter(index)}</b>
                    {option.credits < first.credits && <Badge tone="ok">{count(first.credits - option.credits)} less than A</Badge>}
                    {option.credits > first.credits && <Badge>{count(option.credits - first.credits)} more than A</Badge>}
                    {isAboveCaps(caps, option.credits) && <Badge tone="warn">Above your cap</Badge>}
                  </span>
                  <span className={classes(ui.soft, ui.block, ui.marginTop4)}>{option.description}</span>
                  <span className={classes(ui.flexRow, ui.gap16, ui.marginTop8, ui.small, ui.wrap)}>
                    <span>
                      <span className={styles.clock}>
                        <Icon name="clock" />
                      </span>{' '}
                      {dateShort(option.acquisitionStart)} to {date(option.acquisitionEnd)}
                    </span>
                    {option.maxCloudCover !== null && <span>Cloud ≤ {option.maxCloudCover}%</span>}
                    {option.maxOffNadirDeg !== null && <span>Off nadir ≤ {option.maxOffNadirDeg}°</span>}
                  </span>
                </span>
                <span className={classes(ui.alignEnd, styles.optionCost)}>
                  <b className={classes(ui.numeric, styles.optionPrice)}>{audOfCredits(option.credits)}</b>
                  <span className={classes(ui.soft, ui.small, ui.numeric, ui.block)}>{count(option.credits)} credits</span>
                </span>
              </label>
            ))}
          </div>
        </Card>
        <OrderPasses group={group} optionLimit={option.maxOffNadirDeg} />
      </div>
      <AcceptOption study={study} order={order} option={option} name={`option ${letter(study.options.indexOf(option))}`} />
    </div>
  )
}

interface AcceptParts {
  study: FeasibilityStudy
  order: Order
  option: FeasibilityStudy['options'][number]
  name: string
}

function AcceptOption({ study, order, option, name }: AcceptParts): ReactElement {
  const mayDecide = useMayDecide(order)
  const input = { study_id: study.id, acceptedOptionId: option.id, maxCredits: option.credits }
  const spend = useSpend('orders.tasking.feasibility_decide', input, () => void toast(`Accepted ${name}`))
  useSpendKey(mayDecide && !spend.busy, spend.run)
  return (
    <aside className={classes(cardStyles.card, ui.sticky)} aria-label="Decision">
      <div className={cardStyles.body}>
        <div className={classes(ui.flexRow, ui.between)}>
          <b className={ui.capitalized}>{name}</b>
          <b className={classes(ui.numeric, styles.optionPrice)}>{audOfCredits(option.credits)}</b>
        </div>
        <Payment credits={option.credits} when="reserved when you accept" />
        <Caps credits={option.credits} />
        <div className={ui.marginTop16}>
          <SpendRefusal spend={spend} />
        </div>
        <Button variant="primary" size="l" wide className={ui.marginTop12} busy={spend.busy} disabled={!mayDecide} onClick={spend.run}>
          {mayDecide ? `Accept ${name}` : 'Only editors can decide'}
        </Button>
        <p className={fieldStyles.help}>
          Accepting is binding. To decline, cancel the order; nothing is charged. Without a decision by
          {` ${date(study.expiresAt)} `}the order is cancelled automatically.
        </p>
      </div>
    </aside>
  )
}
