/** Each month is closed with an invoice. */
import { Link, useParams } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import type { Invoice } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { aud, date } from '../../ui/format.ts'
import { Card, Facts, State } from '../../ui/kit.ts'
import { Empty, Loaded } from '../../ui/states.tsx'
import { BillingPage } from './page.tsx'
import { classes } from '../../ui/classes.ts'
import buttonStyles from '../../ui/button.module.css'
import listStyles from '../../ui/list.module.css'
import tableStyles from '../../ui/table.module.css'
import ui from '../../ui/ui.module.css'

export function InvoiceList({ invoices }: { invoices: readonly Invoice[] }): ReactElement {
  return (
    <ul>
      {invoices.map((invoice) => (
        <li key={invoice.id} className={listStyles.entry}>
          <span className={ui.grow}>
            <Link to="/billing/invoices/$id" params={{ id: invoice.id }}>
              <b>{invoice.number}</b>
            </Link>
            <br />
            <span className={classes(ui.soft, ui.small)}>
              {invoice.period}, due {date(invoice.due_at)}
            </span>
          </span>
          <b className={ui.numeric}>{aud(invoice.total_aud)}</b>
          <State of={invoice.status} />
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
              <Empty icon="card" title="No invoices yet">
                An invoice is issued at the end of each month.
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
  const { id } = useParams({ from: '/inside/billing/invoices/$id' })
  const invoice = useOp('billing.invoices.get', { invoice_id: id })
  return (
    <BillingPage name={invoice.data ? `Invoice ${invoice.data.number}` : 'Invoice'}>
      <Loaded query={invoice}>
        {(loaded) => (
          <div className={classes(ui.grid, ui.twoToOne)}>
            <Card title="Lines" flush>
              <table className={tableStyles.table}>
                <tbody>
                  {loaded.lines.map((line, index) => (
                    <tr key={index}>
                      <td>{line.description}</td>
                      <td className={classes(tableStyles.number, ui.numeric)}>{aud(line.amount_aud)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Card>
            <Card title={<State of={loaded.status} />}>
              <Facts
                rows={[
                  ['Period', loaded.period],
                  ['Subtotal', aud(loaded.subtotal_aud)],
                  ['GST', aud(loaded.gst_aud)],
                  ['Total', <b key="t">{aud(loaded.total_aud)}</b>],
                  ['Due', `${aud(loaded.due_aud)} by ${date(loaded.due_at)}`],
                ]}
              />
              <a
                className={classes(buttonStyles.button, buttonStyles.primary, buttonStyles.wide, ui.marginTop12)}
                href={loaded.document_url}
                target="_blank"
                rel="noreferrer"
              >
                Open PDF
              </a>
            </Card>
          </div>
        )}
      </Loaded>
    </BillingPage>
  )
}
