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
      {invoices.map((one) => (
        <li key={one.id} className={listStyles.entry}>
          <span className={ui.grow}>
            <Link to="/billing/invoices/$id" params={{ id: one.id }}>
              <b>{one.number}</b>
            </Link>
            <br />
            <span className={classes(ui.soft, ui.small)}>
              {one.period}, due {date(one.due_at)}
            </span>
          </span>
          <b className={ui.numeric}>{aud(one.total_aud)}</b>
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
  const { id } = useParams({ from: '/inside/billing/invoices/$id' })
  const invoice = useOp('billing.invoices.get', { invoice_id: id })
  return (
    <BillingPage name={invoice.data ? `Invoice ${invoice.data.number}` : 'Invoice'}>
      <Loaded query={invoice}>
        {(one) => (
          <div className={classes(ui.grid, ui.twoToOne)}>
            <Card title="Lines" flush>
              <table className={tableStyles.table}>
                <tbody>
                  {one.lines.map((line, index) => (
                    <tr key={index}>
                      <td>{line.description}</td>
                      <td className={classes(tableStyles.number, ui.numeric)}>{aud(line.amount_aud)}</td>
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
              <a
                className={classes(buttonStyles.button, buttonStyles.primary, buttonStyles.wide, ui.marginTop12)}
                href={one.document_url}
                target="_blank"
                rel="noreferrer"
              >
                Open the PDF
              </a>
            </Card>
          </div>
        )}
      </Loaded>
    </BillingPage>
  )
}
