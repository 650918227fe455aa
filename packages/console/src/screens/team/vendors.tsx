/** The organization's own accounts at vendors: who can be connected, what each needs, and what is still missing. */
import { Link } from '@tanstack/react-router'
import { useState, type ReactElement } from 'react'
import type { AccountVendor, VendorAccount } from '../../api/contract.ts'
import { useAct, useOp } from '../../api/query.ts'
import { useTitle } from '../../state/crumbs.ts'
import { usePanel, useUrl } from '../../state/url.ts'
import { useWho } from '../../state/who.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { ago, audOfCredits } from '../../ui/format.ts'
import { Badge, Button, Card, Note, Page, type Tone } from '../../ui/kit.ts'
import { Empty, FormProblem, Loaded, NoAccess } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { TeamNav } from './nav.tsx'
import { ConnectVendor } from './connect-vendor.tsx'
import { classes } from '../../ui/classes.ts'
import listStyles from '../../ui/list.module.css'
import ui from '../../ui/ui.module.css'
import styles from './team.module.css'

const STATUS: Readonly<Record<VendorAccount['status'], { tone: Tone; text: string }>> = {
  accepted: { tone: 'ok', text: 'connected' },
  refused: { tone: 'bad', text: 'credentials refused' },
  unchecked: { tone: 'warn', text: 'not checked yet' },
}

export function VendorsPage(): ReactElement {
  const { isAdmin } = useWho()
  useTitle({ text: 'Team', to: '/team' }, 'Vendors')
  return (
    <Page title="Vendors" about="Connect your own accounts at imagery vendors. Orders then use them, and the vendor bills you directly.">
      <TeamNav />
      {isAdmin ? <VendorList /> : <NoAccess>Only owners and admins can connect accounts at vendors.</NoAccess>}
    </Page>
  )
}

function VendorList(): ReactElement {
  const list = useOp('vendors.accounts.list', {})
  const [{ connect }] = useUrl()
  const panel = usePanel('connect')
  return (
    <Card className={ui.marginTop16} flush>
      <Loaded
        query={list}
        empty={({ vendors }) =>
          vendors.length === 0 && (
            <Empty icon="sat" title="No vendor takes accounts here">
              The operator decides which vendors organizations can connect.
            </Empty>
          )
        }
      >
        {({ vendors, accounts }) => (
          <>
            <ul aria-label="Vendors">
              {vendors.map((vendor) => (
                <VendorRow
                  key={vendor.host_name}
                  vendor={vendor}
                  account={accounts.find(({ host_name }) => host_name === vendor.host_name) ?? null}
                  onConnect={() => panel.open(vendor.host_name)}
                />
              ))}
            </ul>
            {vendors
              .filter(({ host_name }) => host_name === connect)
              .map((vendor) => (
                <ConnectVendor
                  key={vendor.host_name}
                  vendor={vendor}
                  isReplacing={accounts.some(({ host_name }) => host_name === vendor.host_name)}
                  onClose={panel.close}
                />
              ))}
          </>
        )}
      </Loaded>
    </Card>
  )
}

interface RowParts {
  vendor: AccountVendor
  account: VendorAccount | null
  onConnect(): void
}

function VendorRow({ vendor, account, onConnect }: RowParts): ReactElement {
  const check = useAct('vendors.accounts.check', ['vendors'])
  const [isRemoving, setRemoving] = useState(false)
  const status = account && STATUS[account.status]
  return (
    <li className={classes(listStyles.entry, styles.vendor)}>
      <div className={ui.grow}>
        <b>{vendor.title}</b> {status ? <Badge tone={status.tone}>{status.text}</Badge> : <Badge>not connected</Badge>}
        <p className={classes(ui.soft, ui.small)}>
          {vendor.description}. {billingOf(vendor)}
        </p>
        {account && (
          <p className={ui.small}>
            <span className={ui.mono}>{account.hint}</span>
            {account.detail ? `: ${account.detail}` : ''}{' '}
            <span className={ui.soft}>{account.checked_at ? `checked ${ago(account.checked_at)}` : ''}</span>
          </p>
        )}
        <Missing vendor={vendor} />
        <FormProblem error={check.error} />
      </div>
      <div className={classes(ui.flexRow, ui.wrap)}>
        {account && (
          <Button
            size="s"
            label={`Check ${vendor.title}`}
            busy={check.isPending}
            onClick={() =>
              check.mutate(
                { host_name: vendor.host_name },
                { onSuccess: ({ status }) => toast(`${vendor.title}: ${STATUS[status].text}`, status === 'refused' ? 'bad' : 'ok') },
              )
            }
          >
            Check
          </Button>
        )}
        <Button
          size="s"
          variant={account ? 'plain' : 'primary'}
          label={`${account ? 'Replace credentials of' : 'Connect'} ${vendor.title}`}
          onClick={onConnect}
        >
          {account ? 'Replace' : 'Connect'}
        </Button>
        {account && (
          <Button size="s" variant="danger" label={`Disconnect ${vendor.title}`} onClick={() => setRemoving(true)}>
            Disconnect
          </Button>
        )}
      </div>
      {isRemoving && <Disconnect vendor={vendor} onClose={() => setRemoving(false)} />}
    </li>
  )
}

const OFFERS = { archive: 'Archive', tasking: 'tasking' } as const

const capitalized = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`

function billingOf({ offers, currency, handling_credits, is_sold_here }: AccountVendor): string {
  const offered = offers.length > 0 ? `${offers.map((offer) => OFFERS[offer]).join(' and ')}, ` : ''
  const fee = handling_credits > 0 ? `, plus ${audOfCredits(handling_credits)} per order for handling` : ''
  const without = is_sold_here ? ' Without an account, you pay us in credits.' : ''
  return `${capitalized(`${offered}billed in ${currency}`)}${fee}.${without}`
}

/** What stands between the account and an order. */
function Missing({ vendor }: { vendor: AccountVendor }): ReactElement | null {
  if (vendor.is_tested && vendor.missing_licences.length === 0) return null
  return (
    <div className={classes(ui.flexColumn, ui.gap6, ui.small, ui.marginTop8)}>
      {!vendor.is_tested && <Note tone="warn">Built from public documentation, not yet tested with an account.</Note>}
      {vendor.missing_licences.length > 0 && (
        <Note>
          Some products need a licence first: {vendor.missing_licences.join(', ')}. <Link to="/team/licences">Read and accept</Link>
        </Note>
      )}
    </div>
  )
}

function Disconnect({ vendor, onClose }: { vendor: AccountVendor; onClose(): void }): ReactElement {
  const remove = useAct('vendors.accounts.delete', ['vendors', 'catalog'])
  const consequence = vendor.is_sold_here
    ? 'Orders are then paid in credits.'
    : `Scenes of ${vendor.title} can then no longer be found or ordered.`
  return (
    <Dialog title={`Disconnect ${vendor.title}`} onClose={onClose}>
      <div className={classes(ui.flexColumn, ui.gap12)}>
        <p>The stored credentials are deleted. {consequence} Delivered items stay.</p>
        <FormProblem error={remove.error} />
        <Button
          variant="danger"
          busy={remove.isPending}
          onClick={() =>
            remove.mutate(
              { host_name: vendor.host_name },
              {
                onSuccess: () => {
                  toast(`${vendor.title} is disconnected`)
                  onClose()
                },
              },
            )
          }
        >
          Disconnect
        </Button>
      </div>
    </Dialog>
  )
}
