/** An organization that pays by invoice: what it has committed to, and what a month came to. */
import type { ReactElement } from 'react'
import type { Commitment } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { useUrl } from '../../state/url.ts'
import { useWho } from '../../state/who.ts'
import { saveCsv } from '../../ui/csv.ts'
import { aud, date } from '../../ui/format.ts'
import { Bar, Button, Card, Facts, Field, State } from '../../ui/kit.ts'
import { Empty, Loaded } from '../../ui/states.tsx'
import { BillingPage, useIsOnAccount } from './page.tsx'
import { classes } from '../../ui/classes.ts'
import cardStyles from '../../ui/card.module.css'
import tableStyles from '../../ui/table.module.css'
import ui from '../../ui/ui.module.css'

export function Commitments(): ReactElement {
  const { isAdmin } = useWho()
  const isOnAccount = useIsOnAccount()
  const commitments = useOp('organizations.commitments.list', {}, { enabled: isAdmin })
  return (
    <BillingPage name="Commitments">
      <div className={classes(ui.flexColumn, ui.gap16)}>
        <Loaded
          query={commitments}
          empty={({ commitments: list }) =>
            list.length === 0 && (
              <Card>
                <Empty icon="card" title="No commitment">
                  If your organization has a minimum commitment, its use is shown here.
                </Empty>
              </Card>
            )
          }
        >
          {({ commitments: list }) => (
            <div className={classes(ui.flexColumn, ui.gap16)}>
              {list.map((entry) => (
                <CommitmentCard key={entry.id} commitment={entry} />
              ))}
            </div>
          )}
        </Loaded>
        {isOnAccount && <Statement />}
      </div>
    </BillingPage>
  )
}

function CommitmentCard({ commitment }: { commitment: Commitment }): ReactElement {
  const { name, products, period_start, period_end, minimum_aud, minimum_km2, delivered_to_date, remaining, shortfall_aud } = commitment
  const unit = (amount: number) => (minimum_aud === null ? `${amount} km²` : aud(amount))
  const minimum = minimum_aud ?? minimum_km2 ?? 0
  return (
    <Card title={name} aside={<State of={commitment.status} />}>
      <Bar label={`Used of ${name}`} share={minimum > 0 ? delivered_to_date / minimum : 0} />
      <div className={ui.marginTop12}>
        <Facts
          rows={[
            ['Period', `${date(period_start)} to ${date(period_end)}`],
            ['Minimum', unit(minimum)],
            ['Delivered', unit(delivered_to_date)],
            ['Left', unit(remaining)],
            ...(shortfall_aud > 0 ? [['Shortfall', aud(shortfall_aud)] as const] : []),
            ['Products', products.join(', ')],
          ]}
        />
      </div>
    </Card>
  )
}

/** One month; the last settled one unless the address says another. */
function Statement(): ReactElement {
  const { organizationId } = useWho()
  const [url, setUrl] = useUrl()
  const month = url['month'] ?? ''
  const statement = useOp(
    'organizations.commitments.statement',
    { organization_id: organizationId, ...(month ? { period: month } : {}) },
    { keep: true },
  )
  const lines = statement.data?.lines ?? []
  return (
    <Card
      title={`Statement${statement.data ? ` of ${statement.data.period}` : ''}`}
      flush
      aside={
        <Button
          size="s"
          icon="down"
          disabled={lines.length === 0}
          onClick={() =>
            saveCsv(`statement ${statement.data?.period ?? ''}`, [
              ['kind', 'description', 'reference', 'quantity', 'aud'],
              ...lines.map((line) => [line.kind, line.description, line.reference_id ?? '', line.quantity, line.amount_aud]),
            ])
          }
        >
          CSV
        </Button>
      }
    >
      <div className={cardStyles.body}>
        <Field label="Month" type="month" value={month} onChange={(event) => setUrl({ month: event.target.value || null })} />
      </div>
      <Loaded
        query={statement}
        rows={3}
        empty={(month) => month.lines.length === 0 && <Empty icon="card" title="No transactions this month" />}
      >
        {(loaded) => (
          <div className={ui.scrollSideways}>
            <table className={tableStyles.table}>
              <thead>
                <tr>
                  <th>Description</th>
                  <th className={tableStyles.number}>A$</th>
                </tr>
              </thead>
              <tbody>
                {loaded.lines.map((line, index) => (
                  <tr key={index}>
                    <td>{line.description}</td>
                    <td className={classes(tableStyles.number, ui.numeric)}>{aud(line.amount_aud)}</td>
                  </tr>
                ))}
                <tr>
                  <td>GST</td>
                  <td className={classes(tableStyles.number, ui.numeric)}>{aud(loaded.gst_aud)}</td>
                </tr>
                <tr>
                  <td>
                    <b>Total</b>
                  </td>
                  <td className={classes(tableStyles.number, ui.numeric)}>
                    <b>{aud(loaded.total_aud)}</b>
                  </td>
                </tr>
              </tbody>
            </table>
          </div>
        )}
      </Loaded>
    </Card>
  )
}
