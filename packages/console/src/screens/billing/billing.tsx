/** Balance, ledger, invoices, usage, cards, approvals, plan. */
import { Link, useParams } from '@tanstack/react-router'
import { useMemo, useState, type ReactElement, type ReactNode } from 'react'
import type { CreditTransaction, Invoice } from '../../api/contract.ts'
import { useAct, useOp } from '../../api/query.ts'
import { useTitle } from '../../shell/crumbs.tsx'
import { useWho } from '../../shell/who.ts'
import { Chart } from '../../ui/charts.tsx'
import { saveCsv } from '../../ui/csv.ts'
import { aud, audOfCredits, bytes, count, date, dateTime, dateTimeShort, shortId } from '../../ui/format.ts'
import { Badge, Bar, Button, Card, Choice, Facts, Page, Segmented, State, SubNav, type Tone } from '../../ui/kit.tsx'
import { Empty, Failed, FormProblem, Loaded, Skeleton } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { ApprovalTable, PendingApprovals } from './approvals.tsx'
import { AddCard, AutoTopup, CardList } from './cards.tsx'
import { AddCredits } from './top-up.tsx'

function BillingPage({ name, children, actions }: { name: string; children: ReactNode; actions?: ReactNode }): ReactElement {
  const who = useWho()
  const pending = useOp('billing.approvals.list', { status: 'pending' }, { enabled: who.isAdmin })
  useTitle({ text: who.organizationName }, ...(name === 'Overview' ? ['Billing'] : [{ text: 'Billing', to: '/billing' }, name]))
  if (!who.isAdmin)
    return (
      <Page title="Billing">
        <Empty icon="lock" tone="warn" title="Billing is for owners and admins">
          You are a member. An owner or admin can show you invoices or raise your cap. What you order is under Orders.
        </Empty>
      </Page>
    )
  const waiting = pending.data?.approvals.length ?? 0
  return (
    <Page
      title={name === 'Overview' ? 'Billing' : name}
      about={
        name === 'Overview'
          ? 'Credits, 100 to A$1. Reserved when you order, charged when it arrives, returned when it does not.'
          : undefined
      }
      actions={actions}
    >
      <SubNav
        label="Billing"
        links={[
          { to: '/billing', text: 'Overview' },
          { to: '/billing/ledger', text: 'Ledger' },
          { to: '/billing/invoices', text: 'Invoices' },
          { to: '/billing/usage', text: 'Usage' },
          { to: '/billing/cards', text: 'Cards' },
          {
            to: '/billing/approvals',
            text:
              waiting > 0 ? (
                <>
                  Approvals <Badge tone="warn">{waiting}</Badge>
                </>
              ) : (
                'Approvals'
              ),
          },
          { to: '/billing/plan', text: 'Plan' },
        ]}
      />
      <div className="mt16">{children}</div>
    </Page>
  )
}

export function Overview(): ReactElement {
  const who = useWho()
  const balance = useOp('billing.credits.balance', {}, { enabled: who.isAdmin })
  const ledger = useOp('billing.credits.transactions', { limit: 100 }, { enabled: who.isAdmin })
  const usage = useOp('usage.current', {}, { enabled: who.isAdmin })
  const invoices = useOp('billing.invoices.list', { limit: 5 }, { enabled: who.isAdmin })
  const status = useOp('billing.status.get', { organization_id: who.organizationId }, { enabled: who.isAdmin })
  const [adding, setAdding] = useState(false)
  const [addingCard, setAddingCard] = useState(false)
  const spent = useMemo(() => spentInDays(ledger.data?.transactions ?? [], 30), [ledger.data])
  return (
    <BillingPage
      name="Overview"
      actions={
        <Button look="primary" icon="plus" onClick={() => setAdding(true)}>
          Add credits
        </Button>
      }
    >
      <div className="grid two-one">
        <div className="col g16">
          {status.data?.subscription_status === 'past_due' && (
            <Failed error={new Error('An invoice is past due. Add a card under Cards, or pay it under Invoices.')} />
          )}
          <Card flush>
            <Loaded query={balance} rows={1}>
              {(data) => (
                <div className="kpis">
                  <Kpi name="Available" big={count(data.available_credits)} small={audOfCredits(data.available_credits)} />
                  <Kpi name="Reserved" big={count(data.reserved_credits)} small="for what is under way" />
                  <Kpi name="Spent in 30 days" big={count(spent)} small={audOfCredits(spent)} />
                  <Kpi
                    name="At this pace"
                    big={spent > 0 ? `${Math.floor((data.available_credits / spent) * 30)} days` : '–'}
                    small={spent > 0 ? 'until the wallet is empty' : 'nothing was spent yet'}
                  />
                </div>
              )}
            </Loaded>
          </Card>
          <Spending transactions={ledger.data?.transactions ?? []} />
          <LedgerCard transactions={(ledger.data?.transactions ?? []).slice(0, 6)} />
        </div>
        <div className="col g16">
          <AutoTopup />
          <Card
            title="Card"
            aside={
              <button type="button" className="as-link" onClick={() => setAddingCard(true)}>
                Add
              </button>
            }
          >
            <CardList />
          </Card>
          <Card title="Usage this month" aside={<span className="soft sm">{usage.data?.plan_id}</span>}>
            <Loaded query={usage} rows={3}>
              {(data) => <UsageBars {...data} />}
            </Loaded>
          </Card>
          <Card title="Invoices" aside={<Link to="/billing/invoices">All</Link>} flush>
            <Loaded
              query={invoices}
              rows={2}
              empty={({ invoices: list }) => list.length === 0 && <p className="soft bd">None yet. Each month is closed with one.</p>}
            >
              {({ invoices: list }) => <InvoiceList invoices={list} />}
            </Loaded>
          </Card>
        </div>
      </div>
      {adding && <AddCredits onClose={() => setAdding(false)} />}
      {addingCard && <AddCard onClose={() => setAddingCard(false)} />}
    </BillingPage>
  )
}

const Kpi = ({ name, big, small }: { name: string; big: string; small: string }) => (
  <div className="kpi">
    <span>{name}</span>
    <b>{big}</b>
    <small>{small}</small>
  </div>
)

const DAY_MS = 86_400_000
const sumOf = (values: readonly number[]) => values.reduce((sum, one) => sum + one, 0)

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
      total: [...sums.values()].flat().reduce((sum, one) => sum + one, 0),
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
        <Empty icon="hist" title="Nothing was charged in this time">
          Reservations are charged when the data arrives.
        </Empty>
      ) : (
        <>
          <Chart kind="bars" label={`Spending by day, ${count(total)} credits in all`} times={times} series={series} />
          <p className="soft sm">
            {series.map(({ label, values }) => `${label} ${count(sumOf(values))}`).join(', ')}; from the newest {transactions.length}{' '}
            entries of the ledger.
          </p>
        </>
      )}
    </Card>
  )
}

const REASONS: Readonly<Record<string, Tone>> = {
  reservation: 'warn',
  capture: '',
  release: 'ok',
  topup: 'ok',
  bonus: 'ok',
  grant: 'ok',
  refund: 'info',
  adjustment: 'info',
}

function LedgerRows({ transactions }: { transactions: readonly CreditTransaction[] }): ReactElement {
  return (
    <div className="scrollx">
      <table className="tbl stack">
        <thead>
          <tr>
            <th>When, UTC</th>
            <th>What</th>
            <th>Reference</th>
            <th className="n">Credits</th>
            <th className="n">Balance</th>
          </tr>
        </thead>
        <tbody>
          {transactions.map((one) => (
            <tr key={one.id}>
              <td>{dateTimeShort(one.created_at)}</td>
              <td>
                <Badge tone={REASONS[one.type] ?? ''}>{one.type}</Badge> {one.description}
              </td>
              <td className="mono faint hide-s">{one.reference_type ? `${one.reference_type} ${shortId(one.reference_id ?? '')}` : ''}</td>
              <td className={`n num ${one.credits > 0 ? 'ok' : ''}`}>
                <b>
                  {one.credits > 0 ? '+' : '−'}
                  {count(Math.abs(one.credits))}
                </b>
              </td>
              <td className="n num hide-s">{count(one.balance_after)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function LedgerCard({ transactions }: { transactions: readonly CreditTransaction[] }): ReactElement {
  return (
    <Card title="Ledger" aside={<Link to="/billing/ledger">All</Link>} flush>
      {transactions.length === 0 ? <p className="soft bd">Nothing yet.</p> : <LedgerRows transactions={transactions} />}
    </Card>
  )
}

const PAGE = 50

export function Ledger(): ReactElement {
  const [reason, setReason] = useState('')
  const [limit, setLimit] = useState(PAGE)
  const ledger = useOp('billing.credits.transactions', { limit, ...(reason ? { reason: reason as 'topup' } : {}) }, { keep: true })
  return (
    <BillingPage name="Ledger">
      <Card
        title="Every credit that came, went or is held"
        flush
        aside={
          <>
            <Choice
              label="Kind"
              hideLabel
              value={reason}
              onChange={(event) => setReason(event.target.value)}
              options={[{ value: '', text: 'All kinds' }, ...Object.keys(REASONS).map((one) => ({ value: one, text: one }))]}
            />
            <Button
              icon="down"
              onClick={() =>
                saveCsv('ledger', [
                  ['when', 'type', 'description', 'reference', 'credits', 'balance'],
                  ...(ledger.data?.transactions ?? []).map((one) => [
                    one.created_at,
                    one.type,
                    one.description ?? '',
                    one.reference_id ?? '',
                    one.credits,
                    one.balance_after,
                  ]),
                ])
              }
            >
              CSV
            </Button>
          </>
        }
      >
        <Loaded
          query={ledger}
          rows={8}
          empty={({ transactions }) => transactions.length === 0 && <Empty icon="card" title="Nothing of this kind" />}
        >
          {({ transactions }) => <LedgerRows transactions={transactions} />}
        </Loaded>
      </Card>
      {ledger.data && ledger.data.transactions.length < ledger.data.total && (
        <div className="row center mt16">
          <Button onClick={() => setLimit(limit + PAGE)}>Load more</Button>
        </div>
      )}
    </BillingPage>
  )
}

function InvoiceList({ invoices }: { invoices: readonly Invoice[] }): ReactElement {
  return (
    <ul>
      {invoices.map((one) => (
        <li key={one.id} className="uf">
          <span className="grow">
            <Link to="/billing/invoices/$id" params={{ id: one.id } as never}>
              <b>{one.number}</b>
            </Link>
            <br />
            <span className="soft sm">
              {one.period}, due {date(one.due_at)}
            </span>
          </span>
          <b className="num">{aud(one.total_aud)}</b>
          <State of={one.status} />
        </li>
      ))}
    </ul>
  )
}

export function Invoices(): ReactElement {
  const invoices = useOp('billing.invoices.list', { limit: 100 })
  return (
    <BillingPage name="Invoices">
      <Card flush>
        <Loaded
          query={invoices}
          empty={({ invoices: list }) =>
            list.length === 0 && (
              <Empty icon="card" title="No invoice yet">
                Each month is closed with one.
              </Empty>
            )
          }
        >
          {({ invoices: list }) => <InvoiceList invoices={list} />}
        </Loaded>
      </Card>
    </BillingPage>
  )
}

export function InvoicePage(): ReactElement {
  const { id } = useParams({ strict: false }) as { id: string }
  const invoice = useOp('billing.invoices.get', { invoice_id: id })
  return (
    <BillingPage name={invoice.data ? `Invoice ${invoice.data.number}` : 'Invoice'}>
      <Loaded query={invoice}>
        {(one) => (
          <div className="grid two-one">
            <Card title="Lines" flush>
              <table className="tbl">
                <tbody>
                  {one.lines.map((line, index) => (
                    <tr key={index}>
                      <td>{line.description}</td>
                      <td className="n num">{aud(line.amount_aud)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Card>
            <Card title={<State of={one.status} />}>
              <Facts
                rows={[
                  ['Period', one.period],
                  ['Before GST', aud(one.subtotal_aud)],
                  ['GST', aud(one.gst_aud)],
                  ['Total', <b key="t">{aud(one.total_aud)}</b>],
                  ['Due', `${aud(one.due_aud)} by ${date(one.due_at)}`],
                ]}
              />
              <a className="btn p w mt12" href={one.document_url} target="_blank" rel="noreferrer">
                Open the PDF
              </a>
            </Card>
          </div>
        )}
      </Loaded>
    </BillingPage>
  )
}

interface UsageNow {
  storage_bytes: number
  egress_bytes_last_24h: number
  compute_jobs: number
  tiles: number
  api_calls: number
  limits: { storage_bytes: number; egress_bytes_per_24h: number; compute_jobs: number }
}

function UsageBars({ storage_bytes, egress_bytes_last_24h, compute_jobs, tiles, api_calls, limits }: UsageNow): ReactElement {
  const row = (name: string, used: number, limit: number, show: (value: number) => string) => (
    <div className="col g4">
      <div className="row between sm">
        <span>{name}</span>
        <span className="soft num">
          {show(used)} of {show(limit)}
        </span>
      </div>
      <Bar label={name} share={limit > 0 ? used / limit : 0} tone={used > limit * 0.9 ? 'w' : ''} />
    </div>
  )
  return (
    <div className="col g12">
      {row('Stored', storage_bytes, limits.storage_bytes, bytes)}
      {row('Downloads, 24 h', egress_bytes_last_24h, limits.egress_bytes_per_24h, bytes)}
      {row('Processing jobs', compute_jobs, limits.compute_jobs, count)}
      <Facts
        rows={[
          ['Tiles', count(tiles)],
          ['API calls', count(api_calls)],
        ]}
      />
    </div>
  )
}

type Measure = 'storage_bytes' | 'egress_bytes' | 'tiles' | 'compute_jobs' | 'api_calls'
const MEASURES: readonly { value: Measure; text: string }[] = [
  { value: 'api_calls', text: 'API calls' },
  { value: 'tiles', text: 'Tiles' },
  { value: 'storage_bytes', text: 'Storage' },
  { value: 'egress_bytes', text: 'Downloads' },
  { value: 'compute_jobs', text: 'Jobs' },
]

export function Usage(): ReactElement {
  const current = useOp('usage.current', {})
  const history = useOp('usage.history', { granularity: 'day' })
  const recalculate = useAct('usage.recalculate_storage', ['usage'])
  const [measure, setMeasure] = useState<Measure>('api_calls')
  const points = useMemo(() => history.data?.points ?? [], [history.data])
  const times = useMemo(() => points.map(({ period }) => Date.parse(period) / 1000), [points])
  const series = useMemo(() => [{ label: measure, colour: '--c1', values: points.map((point) => point[measure]) }], [points, measure])
  return (
    <BillingPage name="Usage">
      <div className="grid two-one">
        <Card title="By day" aside={<Segmented label="Measure" value={measure} onChange={setMeasure} options={MEASURES} />}>
          <Loaded query={history} empty={() => points.length === 0 && <Empty icon="hist" title="No day is over yet" />}>
            {() => (
              <>
                <Chart kind="bars" height={240} label={`${measure} by day`} times={times} series={series} />
                <details className="mt12">
                  <summary>As a table</summary>
                  <table className="tbl slim">
                    <tbody>
                      {points.map((point) => (
                        <tr key={point.period}>
                          <td>{point.period}</td>
                          <td className="n num">{measure.endsWith('bytes') ? bytes(point[measure]) : count(point[measure])}</td>
                        </tr>
                      ))}
                    </tbody>
                  </table>
                </details>
              </>
            )}
          </Loaded>
        </Card>
        <Card title="This month">
          <Loaded query={current}>{(data) => <UsageBars {...data} />}</Loaded>
          <div className="mt12">
            <Button
              size="s"
              busy={recalculate.isPending}
              onClick={() => recalculate.mutate({}, { onSuccess: ({ storage_bytes }) => void toast(`${bytes(storage_bytes)} are stored`) })}
            >
              Count the storage again
            </Button>
          </div>
        </Card>
      </div>
    </BillingPage>
  )
}

export function Cards(): ReactElement {
  const [adding, setAdding] = useState(false)
  return (
    <BillingPage
      name="Cards"
      actions={
        <Button look="primary" icon="plus" onClick={() => setAdding(true)}>
          Add a card
        </Button>
      }
    >
      <div className="grid two-one">
        <Card title="Cards">
          <CardList />
        </Card>
        <AutoTopup />
      </div>
      {adding && <AddCard onClose={() => setAdding(false)} />}
    </BillingPage>
  )
}

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
                <Empty icon="check" title="Nobody had to ask">
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

export function PlanPage(): ReactElement {
  const plans = useOp('billing.plans.list', {})
  const change = useAct('billing.plan.change', ['billing', 'usage', 'organizations'])
  return (
    <BillingPage name="Plan">
      <FormProblem error={change.error} />
      {!plans.data && <Skeleton />}
      <div className="grid three">
        {(plans.data?.plans ?? []).map((plan) => {
          const isCurrent = plan.id === plans.data?.current_plan_id
          return (
            <Card key={plan.id} title={plan.name} aside={isCurrent && <Badge tone="acc">yours</Badge>}>
              <b className="price-big">{plan.monthly_aud === 0 ? 'Free' : `${aud(plan.monthly_aud)} a month`}</b>
              <div className="mt12">
                <Facts
                  rows={[
                    ['Storage', bytes(plan.storage_bytes)],
                    ['Downloads a day', bytes(plan.egress_bytes)],
                    ['Jobs a month', count(plan.compute_jobs)],
                    [
                      'Items expire',
                      plan.retention.expired_after_days === null ? 'never' : `after ${plan.retention.expired_after_days} days`,
                    ],
                  ]}
                />
              </div>
              {!isCurrent && (
                <Button
                  wide
                  className="mt12"
                  busy={change.isPending}
                  onClick={() =>
                    change.mutate(
                      { plan_id: plan.id as 'team' },
                      { onSuccess: ({ effective_at }) => void toast(`${plan.name} from ${dateTime(effective_at)}`) },
                    )
                  }
                >
                  Change to {plan.name}
                </Button>
              )}
            </Card>
          )
        })}
      </div>
    </BillingPage>
  )
}
