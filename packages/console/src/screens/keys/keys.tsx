/** Keys for code and for QGIS. The secret is shown once. */
import { useState, type ReactElement } from 'react'
import type { ApiKey } from '../../api/contract.ts'
import { call } from '../../api/client.ts'
import { useAct, useOp } from '../../api/query.ts'
import { useTitle } from '../../state/crumbs.ts'
import { DevelopNav } from '../../parts/develop-nav.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ago, count, date } from '../../ui/format.ts'
import { Badge, Button, Card, Check, Choice, CopyButton, Field, Note, Page, Secret, Segmented } from '../../ui/kit.ts'
import { Empty, FormProblem, Loaded } from '../../ui/states.tsx'
import { firstCall, type Caller } from './first-call.ts'
import { classes } from '../../ui/classes.ts'
import secretStyles from '../../ui/secret.module.css'
import buttonStyles from '../../ui/button.module.css'
import codeStyles from '../../ui/code.module.css'
import fieldStyles from '../../ui/field.module.css'
import tableStyles from '../../ui/table.module.css'
import ui from '../../ui/ui.module.css'

const SOON_MS = 7 * 86_400_000
type Permission = 'read' | 'write' | 'process'
const PERMISSIONS: readonly { value: Permission; text: string }[] = [
  { value: 'read', text: 'read: search, view, download' },
  { value: 'write', text: 'write: create and change' },
  { value: 'process', text: 'process: run jobs and spend credits' },
]

export function Keys(): ReactElement {
  const keys = useOp('api_keys.list', {})
  const [dialog, setDialog] = useState(false)
  const [fresh, setFresh] = useState<{ name: string; key: string } | null>(null)
  useTitle('Develop', 'API keys')
  return (
    <Page
      wide
      title="Develop"
      about="API keys, webhooks and the request log."
      actions={
        <>
          <a className={buttonStyles.button} href="/docs" target="_blank" rel="noreferrer">
            Reference
          </a>
          <Button variant="primary" icon="plus" onClick={() => setDialog(true)}>
            New key
          </Button>
        </>
      }
    >
      <DevelopNav />
      <div className={classes(ui.grid, ui.twoToOne, ui.marginTop16)}>
        <div className={classes(ui.flexColumn, ui.gap16)}>
          {fresh && (
            <Card className={secretStyles.shownOnce}>
              <b>{fresh.name} is ready. Copy it now.</b>
              <p className={classes(ui.soft, ui.small)}>We store only a hash, so it cannot be shown again.</p>
              <div className={ui.marginTop8}>
                <Secret text={fresh.key} label="New API key" />
              </div>
            </Card>
          )}
          <Card title="Keys" aside={<span className={classes(ui.soft, ui.small)}>a key acts on behalf of its creator</span>} flush>
            <Loaded
              query={keys}
              empty={(list) =>
                list.length === 0 && (
                  <Empty
                    icon="key"
                    title="Create a key for QGIS or for code"
                    actions={
                      <Button variant="primary" onClick={() => setDialog(true)}>
                        New key
                      </Button>
                    }
                  />
                )
              }
            >
              {(list) => <KeyTable keys={list} />}
            </Loaded>
          </Card>
        </div>
        <FirstCall apiKey={fresh?.key ?? null} />
      </div>
      {dialog && (
        <NewKey
          onClose={() => setDialog(false)}
          onMade={(name, key) => {
            setFresh({ name, key })
            setDialog(false)
          }}
        />
      )}
    </Page>
  )
}

function KeyTable({ keys }: { keys: readonly ApiKey[] }): ReactElement {
  const revoke = useAct('api_keys.revoke', ['api_keys'])
  return (
    <div className={ui.scrollSideways}>
      <table className={classes(tableStyles.table, tableStyles.asRows)}>
        <thead>
          <tr>
            <th>Name</th>
            <th>Permissions</th>
            <th className={tableStyles.number}>Requests per hour</th>
            <th>Expires</th>
            <th>Last used</th>
            <th className={tableStyles.number}>Requests</th>
            <th>
              <span className={ui.screenReaderOnly}>Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <tr key={key.id} className={key.is_active ? '' : tableStyles.inactive}>
              <td>
                <b>{key.name}</b>
                <br />
                <span className={classes(ui.mono, ui.faint)}>{key.prefix}…</span>
              </td>
              <td>
                <span className={classes(ui.flexRow, ui.gap4)}>
                  {key.permissions.map((permission) => (
                    <Badge key={permission} tone={permission === 'process' ? 'info' : permission === 'write' ? 'warn' : ''}>
                      {permission}
                    </Badge>
                  ))}
                </span>
              </td>
              <td className={tableStyles.number} data-label="per hour">
                {key.rate_limit === null ? 'plan' : count(key.rate_limit)}
              </td>
              <td data-label="expires" className={key.expires_at && Date.parse(key.expires_at) - Date.now() < SOON_MS ? ui.warning : ''}>
                {key.expires_at ? date(key.expires_at) : 'never'}
              </td>
              <td className={ui.soft} data-label="last used">
                {key.last_used_at ? ago(key.last_used_at) : 'never'}
              </td>
              <td className={tableStyles.number} data-label="requests">
                {count(key.total_requests)}
              </td>
              <td className={tableStyles.number}>
                {key.is_active ? (
                  <Button
                    variant="danger"
                    size="s"
                    onClick={() => revoke.mutate({ key_id: key.id })}
                    busy={revoke.isPending && revoke.variables.key_id === key.id}
                  >
                    Revoke
                  </Button>
                ) : (
                  <Badge>revoked</Badge>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <FormProblem error={revoke.error} />
    </div>
  )
}

function NewKey({ onClose, onMade }: { onClose(): void; onMade(name: string, key: string): void }): ReactElement {
  const [name, setName] = useState('')
  const [permissions, setPermissions] = useState<readonly Permission[]>(['read'])
  const [days, setDays] = useState('90')
  const create = useAct('api_keys.create', ['api_keys'])
  return (
    <Dialog title="New key" onClose={onClose}>
      <form
        className={classes(ui.flexColumn, ui.gap12)}
        onSubmit={(event) => {
          event.preventDefault()
          create.mutate(
            { name, permissions: [...permissions], expires_in_days: days === '0' ? null : Number(days) },
            { onSuccess: ({ key }) => onMade(name, key) },
          )
        }}
      >
        <Field
          label="Name"
          required
          maxLength={100}
          data-autofocus
          value={name}
          onChange={(event) => setName(event.target.value)}
          help="For example, nightly job or survey laptop."
        />
        <fieldset className={classes(ui.flexColumn, ui.gap6)}>
          <legend className={fieldStyles.label}>Permissions</legend>
          {PERMISSIONS.map(({ value, text }) => (
            <Check
              key={value}
              checked={permissions.includes(value)}
              onChange={(on) => setPermissions(on ? [...permissions, value] : permissions.filter((permission) => permission !== value))}
            >
              {text}
            </Check>
          ))}
        </fieldset>
        <Choice
          label="Expires"
          value={days}
          onChange={(event) => setDays(event.target.value)}
          options={[
            { value: '30', text: 'in 30 days' },
            { value: '90', text: 'in 90 days' },
            { value: '365', text: 'in a year' },
            { value: '0', text: 'never' },
          ]}
        />
        <FormProblem error={create.error} />
        <Button type="submit" variant="primary" busy={create.isPending} disabled={permissions.length === 0}>
          Create key
        </Button>
      </form>
    </Dialog>
  )
}

function FirstCall({ apiKey }: { apiKey: string | null }): ReactElement {
  const [kind, setKind] = useState<Caller>('curl')
  const [outcome, setOutcome] = useState<string | null>(null)
  const run = async () => {
    const startedAt = performance.now()
    const { total } = await call('projects.list', {})
    setOutcome(`200, ${Math.round(performance.now() - startedAt)} ms, ${total} projects`)
  }
  const text = firstCall(kind, location.origin)
  return (
    <Card
      title="First call"
      aside={
        <Segmented
          label="Language"
          value={kind}
          onChange={setKind}
          options={[
            { value: 'curl', text: 'curl' },
            { value: 'js', text: 'JS' },
            { value: 'python', text: 'Python' },
            { value: 'qgis', text: 'QGIS' },
          ]}
        />
      }
    >
      <pre className={codeStyles.code} tabIndex={0}>
        {text}
      </pre>
      <div className={classes(ui.flexRow, ui.marginTop12, ui.wrap)}>
        <CopyButton text={firstCall(kind, location.origin, apiKey)} label={apiKey ? 'Copy with the key' : 'Copy'} size="m" />
        <Button icon="play" onClick={() => void run().catch((error: unknown) => setOutcome(String(error)))}>
          Run here
        </Button>
        {outcome && <Badge tone="ok">{outcome}</Badge>}
      </div>
      <div className={ui.marginTop12}>
        <Note>
          Keys cannot place archive orders: a person confirms those. Tasking, processing and clips are open to keys that may write or
          process.
        </Note>
      </div>
    </Card>
  )
}
