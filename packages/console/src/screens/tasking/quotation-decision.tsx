/** A quotation, which can be accepted or rejected. */
import type { ReactElement } from 'react'
import type { Order, OrderGroup, Quotation } from '../../api/contract.ts'
import { SpendRefusal, useSpend } from '../../parts/orders/spend.tsx'
import { Caps, Payment } from '../../parts/orders/total.tsx'
import { area as areaText, audOfCredits, count, date } from '../../ui/format.ts'
import { Button, Card, Facts, Note } from '../../ui/kit.ts'
import { toast } from '../../ui/toasts.tsx'
import { OrderPasses } from './order-passes.tsx'
import { useMayDecide } from './use-may-decide.ts'
import { classes } from '../../ui/classes.ts'
import styles from './tasking.module.css'
import cardStyles from '../../ui/card.module.css'
import fieldStyles from '../../ui/field.module.css'
import ui from '../../ui/ui.module.css'

interface QuotationDecisionParts {
  quotation: Quotation
  order: Order
  group: OrderGroup | undefined
}

export function QuotationDecision({ quotation, order, group }: QuotationDecisionParts): ReactElement {
  const mayDecide = useMayDecide(order)
  const credits = quotation.creditsPrice ?? 0
  const accept = useSpend(
    'orders.tasking.quotation_decide',
    { quotation_id: quotation.id, decision: 'ACCEPTED' },
    () => void toast('Quotation accepted'),
  )
  const reject = useSpend(
    'orders.tasking.quotation_decide',
    { quotation_id: quotation.id, decision: 'REJECTED' },
    () => void toast('Quotation rejected'),
  )
  const failed = accept.error ? accept : reject
  return (
    <div className={classes(ui.grid, ui.twoToOne)}>
      <div className={classes(ui.flexColumn, ui.gap16)}>
        <Card title="Quotation" aside={<span className={classes(ui.soft, ui.small)}>Valid until {date(quotation.expiresAt)}</span>}>
          <Facts
            rows={[
              ['Price', <b className={classes(ui.numeric, styles.optionPrice)}>{audOfCredits(credits)}</b>],
              ['In credits', <span className={ui.numeric}>{count(credits)}</span>],
              ['Original estimate', <span className={ui.numeric}>{group ? audOfCredits(group.credits) : '–'}</span>],
              ['For', group ? `${group.dataProduct}, ${areaText(group.aoi_km2 * 1e6)}` : '–'],
            ]}
          />
          {group && credits > group.credits && (
            <div className={ui.marginTop12}>
              <Note tone="warn" icon="warn">
                {count(credits - group.credits)} credits more than the original estimate.
              </Note>
            </div>
          )}
        </Card>
        <OrderPasses group={group} optionLimit={null} />
      </div>
      <aside className={classes(cardStyles.card, ui.sticky)} aria-label="Decision">
        <div className={cardStyles.body}>
          <div className={classes(ui.flexRow, ui.between)}>
            <b>Quotation</b>
            <b className={classes(ui.numeric, styles.optionPrice)}>{audOfCredits(credits)}</b>
          </div>
          <Payment credits={credits} when="reserved when you accept" />
          <Caps credits={credits} />
          <div className={ui.marginTop16}>
            <SpendRefusal spend={failed} />
          </div>
          <Button
            variant="primary"
            size="l"
            wide
            className={ui.marginTop12}
            busy={accept.busy}
            disabled={!mayDecide || reject.busy}
            onClick={accept.run}
          >
            {mayDecide ? `Accept for ${audOfCredits(credits)}` : 'Only editors can decide'}
          </Button>
          {mayDecide && (
            <Button wide className={ui.marginTop8} busy={reject.busy} disabled={accept.busy} onClick={reject.run}>
              Reject quotation
            </Button>
          )}
          <p className={fieldStyles.help}>Without a decision by {date(quotation.expiresAt)} the order is cancelled automatically.</p>
        </div>
      </aside>
    </div>
  )
}
