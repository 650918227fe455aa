/** Every credit that came, went or is held. */
import { Link } from '@tanstack/react-router'
import { useState, type ReactElement } from 'react'
import type { CreditTransaction } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { saveCsv } from '../../ui/csv.ts'
import { count, dateTimeShort, shortId } from '../../ui/format.ts'
import { Badge, Button, Card, Choice, type Tone } from '../../ui/kit.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { BillingPage } from './page.tsx'

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
      <table className="tbl stack ledger">
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

export function LedgerCard({ transactions }: { transactions: readonly CreditTransaction[] }): ReactElement {
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
