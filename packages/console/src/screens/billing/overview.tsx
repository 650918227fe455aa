/** What there is, what is held, what was spent; the newest of everything else. */
import { Link } from '@tanstack/react-router'
import { useMemo, useState, type ReactElement } from 'react'
import type { CreditTransaction, Output } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { useWho } from '../../state/who.ts'
import { Chart } from '../../ui/charts.tsx'
import { aud, audOfCredits, count } from '../../ui/format.ts'
import { Button, Card, LinkButton, Note, Segmented } from '../../ui/kit.ts'
import { Empty, Failed, Loaded } from '../../ui/states.tsx'
import { AddCard, AutoTopup, CardList } from '../../parts/billing/cards.tsx'
import { InvoiceList } from './invoices.tsx'
import { LedgerCard } from './ledger.tsx'
import { BillingPage } from './page.tsx'
import { AddCredits } from '../../parts/billing/top-up.tsx'
import { UsageBars } from './usage.tsx'
import { classes } from '../../ui/classes.ts'
import styles from './billing.module.css'
import cardStyles from '../../ui/card.module.css'
import ui from '../../ui/ui.module.css'

export function Overview(): ReactElement {
  const who = useWho()
  const ledger = useOp('billing.credits.transactions', { limit: 100 }, { enabled: who.isAdmin })
  const status = useOp('billing.status.get', { organization_id: who.organizationId }, { enabled: who.isAdmin })
  const [adding, setAdding] = useState(false)
  const isOnAccount = status.data?.billing_mode === 'enterprise'
  const transactions = ledger.data?.transactions ?? []
  return (
    <BillingPage
      name="Overview"
      actions={
        !isOnAccount && (
          <Button variant="primary" icon="plus" onClick={() => setAdding(true)}>
            Add credits
          </Button>
        )
      }
    >
      <div className={classes(ui.grid, ui.twoToOne)}>
        <div className={classes(ui.flexColumn, ui.gap16)}>
          {status.data?.subscription_status === 'past_due' && (
            <Failed error={new Error('An invoice is past due. Add a card under Cards, or pay it under Invoices.')} />
          )}
          {isOnAccount ? <OnAccount {...status.data!} /> : <Wallet transactions={transactions} />}
          <Spending transactions={transactions} />
          <LedgerCard transactions={transactions.slice(0, 6)} />
        </div>
        <Aside isOnAccount={isOnAccount} />
      </div>
      {adding && <AddCredits onClose={() => setAdding(false)} />}
    </BillingPage>
  )
}

/** Who pays by invoice has no wallet. */
const OnAccount = ({ uninvoiced_aud, provisional_aud }: Pick<Output<'billing.status.get'>, 'uninvoiced_aud' | 'provisional_aud'>) => (
  <>
    <Note
      icon="card"
      actions={
        <LinkButton size="s" to="/billing/commitments">
          Commitments and statements
        </LinkButton>
      }
    >
      <b>You pay on account.</b> Orders accrue when you place or accept them, and are invoiced in the month they end.
    </Note>
    <Card flush>
      <div className={styles.figures}>
        <Kpi name="Delivered" big={aud(uninvoiced_aud)} small="for the next invoice" />
        <Kpi name="Provisional" big={aud(provisional_aud)} small="open orders and jobs; adjusted when they end" />
      </div>
    </Card>
  </>
)

function Wallet({ transactions }: { transactions: readonly CreditTransaction[] }): ReactElement {
  const { isAdmin } = useWho()
  const balance = useOp('billing.credits.balance', {}, { enabled: isAdmin })
  const spent = useMemo(() => spentInDays(transactions, 30), [transactions])
  return (
    <Card flush>
      <Loaded query={balance} rows={1}>
        {(data) => (
          <div className={styles.figures}>
            <Kpi name="Available" big={count(data.available_credits)} small={audOfCredits(data.available_credits)} />
            <Kpi name="Reserved" big={count(data.reserved_credits)} small="for open orders and jobs" />
            <Kpi name="Spent in 30 days" big={count(spent)} small={audOfCredits(spent)} />
            <Kpi
              name="At this rate"
              big={spent > 0 ? paceOf((data.available_credits / spent) * 30) : '–'}
              small={spent > 0 ? 'until you run out of credits' : 'no spending yet'}
            />
          </div>
        )}
      </Loaded>
    </Card>
  )
}

function Aside({ isOnAccount }: { isOnAccount: boolean }): ReactElement {
  const { isAdmin } = useWho()
  const usage = useOp('usage.current', {}, { enabled: isAdmin })
  const invoices = useOp('billing.invoices.list', { limit: 5 }, { enabled: isAdmin })
  const [addingCard, setAddingCard] = useState(false)
  return (
    <div className={classes(ui.flexColumn, ui.gap16)}>
      {!isOnAccount && <AutoTopup />}
      <Card
        title="Card"
        aside={
          <button type="button" className={ui.asLink} onClick={() => setAddingCard(true)}>
            Add
          </button>
        }
      >
        <CardList />
      </Card>
      <Card title="Usage this month" aside={<span className={classes(ui.soft, ui.small)}>{usage.data?.plan_id}</span>}>
        <Loaded query={usage} rows={3}>
          {(data) => <UsageBars {...data} />}
        </Loaded>
      </Card>
      <Card title="Invoices" aside={<Link to="/billing/invoices">All</Link>} flush>
        <Loaded
          query={invoices}
          rows={2}
          empty={({ invoices: list }) =>
            list.length === 0 && (
              <p className={classes(ui.soft, cardStyles.body)}>No invoices yet. One is issued at the end of each month.</p>
            )
          }
        >
          {({ invoices: list }) => <InvoiceList invoices={list} />}
        </Loaded>
      </Card>
      {addingCard && <AddCard onClose={() => setAddingCard(false)} />}
    </div>
  )
}

const Kpi = ({ name, big, small }: { name: string; big: string; small: string }) => (
  <div className={styles.figure}>
    <span>{name}</span>
    <b>{big}</b>
    <small>{small}</small>
  </div>
)

const DAY_MS = 86_400_000
const MANY_DAYS = 730
const paceOf = (days: number) => (days > MANY_DAYS ? `${count(Math.floor(days / 365))} years` : `${Math.floor(days)} days`)
const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)

function spentInDays(transactions: readonly CreditTransaction[], days: number): number {
  const since = Date.now() - days * DAY_MS
  return transactions
    .filter(({ type, created_at }) => type === 'capture' && Date.parse(created_at) >= since)
    .reduce((sum, { credits }) => sum + Math.abs(credits), 0)
}

/** Captures of the ledger by day; from the newest hundred entries, which is said. */
function Spending({ transactions }: { transactions: readonly CreditTransaction[] }): ReactElement {
  const [days, setDays] = useState('30')
  const { times, series, total } = useMemo(() => {
    const length = Number(days)
    const today = Math.floor(Date.now() / DAY_MS)
    const sums = new Map<string, number[]>()
    for (const { type, credits, created_at, reference_type } of transactions) {
      if (type !== 'capture') continue
      const index = length - 1 - (today - Math.floor(Date.parse(created_at) / DAY_MS))
      if (index < 0) continue
      const kind = reference_type ?? 'other'
      if (!sums.has(kind))
        sums.set(
          kind,
          Array.from({ length }, () => 0),
        )
      sums.get(kind)![index]! += Math.abs(credits)
    }
    const colours = ['--c1', '--c2', '--c3', '--c6']
    return {
      times: Array.from({ length }, (_, index) => ((today - length + 1 + index) * DAY_MS) / 1000),
      series: [...sums].map(([label, values], index) => ({ label, values, colour: colours[index % colours.length]! })),
      total: [...sums.values()].flat().reduce((sum, value) => sum + value, 0),
    }
  }, [transactions, days])
  return (
    <Card
      title="Spending"
      aside={
        <Segmented
          label="Days"
          value={days}
          onChange={setDays}
          options={[
            { value: '7', text: '7 d' },
            { value: '30', text: '30 d' },
            { value: '90', text: '90 d' },
          ]}
        />
      }
    >
      {total === 0 ? (
        <Empty icon="hist" title="No charges in this period">
          Reservations are charged on delivery.
        </Empty>
      ) : (
        <>
          <Chart kind="bars" label={`Spending by day, ${count(total)} credits in all`} times={times} series={series} />
          <p className={classes(ui.soft, ui.small)}>
            {series.map(({ label, values }) => `${label} ${count(sumOf(values))}`).join(', ')}; from the newest {transactions.length}{' '}
            entries of the ledger.
          </p>
        </>
      )}
    </Card>
  )
}
