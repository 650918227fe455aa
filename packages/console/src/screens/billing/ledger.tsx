/** All credit transactions. */
import { Link } from '@tanstack/react-router'
import { useState, type ReactElement } from 'react'
import type { CreditTransaction } from '../../api/contract.ts'
import { headline } from '../../api/problem.ts'
import { readAll, usePages } from '../../api/query.ts'
import { saveCsv } from '../../ui/csv.ts'
import { count, dateTimeShort, shortId } from '../../ui/format.ts'
import { Badge, Button, Card, Choice, type Tone } from '../../ui/kit.ts'
import { Empty, Loaded, More } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { BillingPage } from './page.tsx'
import { classes } from '../../ui/classes.ts'
import styles from './billing.module.css'
import cardStyles from '../../ui/card.module.css'
import tableStyles from '../../ui/table.module.css'
import ui from '../../ui/ui.module.css'

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
    <div className={ui.scrollSideways}>
      <table className={classes(tableStyles.table, tableStyles.stacked, styles.ledger)}>
        <thead>
          <tr>
            <th>Time (UTC)</th>
            <th>Type</th>
            <th>Reference</th>
            <th className={tableStyles.number}>Credits</th>
            <th className={tableStyles.number}>Balance</th>
          </tr>
        </thead>
        <tbody>
          {transactions.map((transaction) => (
            <tr key={transaction.id}>
              <td>{dateTimeShort(transaction.created_at)}</td>
              <td>
                <Badge tone={REASONS[transaction.type] ?? ''}>{transaction.type}</Badge> {transaction.description}
              </td>
              <td className={classes(ui.mono, ui.faint, ui.hideOnPhone)}>
                {transaction.reference_type ? `${transaction.reference_type} ${shortId(transaction.reference_id ?? '')}` : ''}
              </td>
              <td className={classes(tableStyles.number, ui.numeric, transaction.credits > 0 ? ui.success : '')}>
                <b>
                  {transaction.credits > 0 ? '+' : '−'}
                  {count(Math.abs(transaction.credits))}
                </b>
              </td>
              <td className={classes(tableStyles.number, ui.numeric, ui.hideOnPhone)}>{count(transaction.balance_after)}</td>
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
      {transactions.length === 0 ? (
        <p className={classes(ui.soft, cardStyles.body)}>No transactions yet.</p>
      ) : (
        <LedgerRows transactions={transactions} />
      )}
    </Card>
  )
}

const PAGE = 50
/** For a file: as many as one call brings. */
const FILE_PAGE = 1000

/** All of them, not only what was looked at. */
async function saveLedger(wanted: { reason?: 'topup' }): Promise<void> {
  const all = await readAll('billing.credits.transactions', wanted, { size: FILE_PAGE, rows: ({ transactions }) => transactions })
  saveCsv('ledger', [
    ['when', 'type', 'description', 'reference', 'credits', 'balance'],
    ...all.map((transaction) => [
      transaction.created_at,
      transaction.type,
      transaction.description ?? '',
      transaction.reference_id ?? '',
      transaction.credits,
      transaction.balance_after,
    ]),
  ])
}

export function Ledger(): ReactElement {
  const [reason, setReason] = useState('')
  const wanted = reason ? { reason: reason as 'topup' } : {}
  const ledger = usePages('billing.credits.transactions', wanted, { size: PAGE, key: 'id', rows: ({ transactions }) => transactions })
  return (
    <BillingPage name="Ledger">
      <Card
        title="All credit transactions"
        flush
        aside={
          <>
            <Choice
              label="Type"
              hideLabel
              value={reason}
              onChange={(event) => setReason(event.target.value)}
              options={[{ value: '', text: 'All types' }, ...Object.keys(REASONS).map((kind) => ({ value: kind, text: kind }))]}
            />
            <Button icon="down" onClick={() => void saveLedger(wanted).catch((error: unknown) => toast(headline(error), 'bad'))}>
              CSV
            </Button>
          </>
        }
      >
        <Loaded
          query={ledger.query}
          rows={8}
          empty={({ rows }) => rows.length === 0 && <Empty icon="card" title="No transactions of this type" />}
        >
          {({ rows }) => <LedgerRows transactions={rows} />}
        </Loaded>
      </Card>
      <More pages={ledger} className={classes(ui.flexRow, ui.center, ui.marginTop16)} />
    </BillingPage>
  )
}
