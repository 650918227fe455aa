/** What is decided on: an option of a study, or a quotation, each with its price, the passes and who pays. */
import { useState, type ReactElement } from 'react'
import type { FeasibilityStudy, Order, OrderGroup, Quotation } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { mayWrite, useProjects, useWho } from '../../state/who.ts'
import { area as areaText, audOfCredits, count, date, dateShort } from '../../ui/format.ts'
import { Icon } from '../../ui/icons.tsx'
import { Badge, Button, Card, Facts, Note } from '../../ui/kit.ts'
import { Loaded } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { SpendRefusal, useSpend, useSpendKey } from '../../parts/orders/spend.tsx'
import { Caps, isAboveCaps, Payment, useCaps } from '../../parts/orders/total.tsx'
import { Passes, PassLegend } from './passes.tsx'
import { classes } from '../../ui/classes.ts'
import styles from './tasking.module.css'
import cardStyles from '../../ui/card.module.css'
import fieldStyles from '../../ui/field.module.css'
import ui from '../../ui/ui.module.css'

const WIDEST_DEG = 45
export const STANDARD_DEG = 25
const MAX_PASSES = 100

export const paramOf = (group: OrderGroup | undefined, name: string): unknown =>
  (group?.params as Record<string, unknown> | undefined)?.[name]

function useMayDecide(order: Order): boolean {
  const who = useWho()
  const projects = useProjects()
  return mayWrite(
    who,
    projects.data?.projects.find(({ id }) => id === order.projectId),
  )
}

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
        <Card
          title="Options of the study"
          aside={<span className={classes(ui.soft, ui.small)}>valid until {date(study.expiresAt)}</span>}
          flush
        >
          <div role="radiogroup" aria-label="Options of the study">
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
                      <Icon name="clock" /> {dateShort(option.acquisitionStart)} to {date(option.acquisitionEnd)}
                    </span>
                    {option.maxCloudCover !== null && <span>cloud up to {option.maxCloudCover}%</span>}
                    {option.maxOffNadirDeg !== null && <span>up to {option.maxOffNadirDeg}° off nadir</span>}
                  </span>
                </span>
                <span className={ui.alignEnd}>
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

function OrderPasses({ group, optionLimit }: { group: OrderGroup | undefined; optionLimit: number | null }): ReactElement | null {
  const [from, to] = [String(paramOf(group, 'acquisitionStart') ?? ''), String(paramOf(group, 'acquisitionEnd') ?? '')]
  const asked = Number(paramOf(group, 'maxOffNadirAngle') ?? STANDARD_DEG)
  const featureCollection = (group?.featureCollection ?? { type: 'FeatureCollection', features: [] }) as {
    type: 'FeatureCollection'
    features: unknown[]
  }
  const passes = useOp(
    'orders.tasking.opportunities_list',
    {
      dataProduct: group?.dataProduct ?? '',
      featureCollection,
      params: { acquisitionStart: from, acquisitionEnd: to, maxOffNadirAngle: WIDEST_DEG },
      size: MAX_PASSES,
    },
    { enabled: group !== undefined && from !== '' && to !== '', staleTime: 300_000 },
  )
  return (
    <Card title="Predicted passes" aside={<PassLegend withOption={optionLimit !== null && optionLimit !== asked} />}>
      <Loaded query={passes} rows={2}>
        {({ content }) => <Passes passes={content} from={from} to={to} limit={asked} optionLimit={optionLimit} />}
      </Loaded>
    </Card>
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
          {mayDecide ? `Accept ${name}` : 'Deciding takes an editor'}
        </Button>
        <p className={fieldStyles.help}>
          Accepting binds your organization. To decline, cancel the order: nothing is charged. Without a decision by
          {` ${date(study.expiresAt)} `}it is cancelled by itself.
        </p>
      </div>
    </aside>
  )
}

export function QuotationDecision({
  quotation,
  order,
  group,
}: {
  quotation: Quotation
  order: Order
  group: OrderGroup | undefined
}): ReactElement {
  const mayDecide = useMayDecide(order)
  const credits = quotation.creditsPrice ?? 0
  const accept = useSpend(
    'orders.tasking.quotation_decide',
    { quotation_id: quotation.id, decision: 'ACCEPTED' },
    () => void toast('The quotation is accepted'),
  )
  const reject = useSpend(
    'orders.tasking.quotation_decide',
    { quotation_id: quotation.id, decision: 'REJECTED' },
    () => void toast('The quotation is rejected'),
  )
  const failed = accept.error ? accept : reject
  return (
    <div className={classes(ui.grid, ui.twoToOne)}>
      <div className={classes(ui.flexColumn, ui.gap16)}>
        <Card title="Quotation" aside={<span className={classes(ui.soft, ui.small)}>valid until {date(quotation.expiresAt)}</span>}>
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
                {count(credits - group.credits)} credits more than was said before.
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
            {mayDecide ? `Accept, ${audOfCredits(credits)}` : 'Deciding takes an editor'}
          </Button>
          {mayDecide && (
            <Button wide className={ui.marginTop8} busy={reject.busy} disabled={accept.busy} onClick={reject.run}>
              Reject, nothing is charged
            </Button>
          )}
          <p className={fieldStyles.help}>Without a decision by {date(quotation.expiresAt)} the order is cancelled automatically.</p>
        </div>
      </aside>
    </div>
  )
}
