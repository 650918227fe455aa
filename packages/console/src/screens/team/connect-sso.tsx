/** The provider of an organization is connected, or its connection changed. */
import { useState, type FormEvent, type ReactElement } from 'react'
import type { SsoConnection } from '../../api/contract.ts'
import { useAct } from '../../api/query.ts'
import { classes } from '../../ui/classes.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Button, Choice, CopyButton, Field } from '../../ui/kit.ts'
import { FormProblem } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'

interface ConnectParts {
  connection: SsoConnection | null
  redirectUri: string
  signOutUri: string
  onClose(): void
}

/** `admins=admin, reef=member`. */
const textOf = (rules: SsoConnection['role_rules']) => rules.map(({ value, role }) => `${value}=${role}`).join(', ')

type Rule = SsoConnection['role_rules'][number]

/** Null if a rule cannot be read. A rule that gave access to a project still does. */
function rulesOf(text: string, before: readonly Rule[]): Rule[] | null {
  const entries = text.split(',').filter((entry) => entry.trim() !== '')
  const rules = entries.map((entry) => {
    const [, value, role] = /^(.+)=\s*(admin|member)\s*$/.exec(entry) ?? []
    if (value === undefined) return null
    return { ...before.find((rule) => rule.value === value.trim()), value: value.trim(), role: role as 'admin' | 'member' }
  })
  return rules.every((rule) => rule !== null) ? rules : null
}

const tell = (status: SsoConnection['status']) =>
  status === 'verified' ? toast('The provider is connected') : toast('Saved, but the provider does not respond', 'bad')

export function ConnectSso({ connection, redirectUri, signOutUri, onClose }: ConnectParts): ReactElement {
  const [issuer, setIssuer] = useState(connection?.issuer ?? '')
  const [clientId, setClientId] = useState(connection?.client_id ?? '')
  const [secret, setSecret] = useState('')
  const [name, setName] = useState(connection?.name ?? '')
  const [claim, setClaim] = useState(connection?.role_claim ?? '')
  const [rules, setRules] = useState(textOf(connection?.role_rules ?? []))
  const [defaultRole, setDefaultRole] = useState<string>(connection ? (connection.default_role ?? '') : 'member')
  const [unreadable, setUnreadable] = useState(false)
  const put = useAct('organizations.sso.put', ['organizations.sso'])
  const isSame = connection?.issuer === issuer && connection.client_id === clientId
  const send = (event: FormEvent) => {
    event.preventDefault()
    const roleRules = rulesOf(rules, connection?.role_rules ?? [])
    setUnreadable(roleRules === null)
    if (!roleRules) return
    put.mutate(
      {
        issuer: issuer.trim(),
        client_id: clientId.trim(),
        ...(secret ? { client_secret: secret } : isSame ? {} : { client_secret: null }),
        name,
        scopes: connection?.scopes ?? 'openid email profile',
        session_hours: connection?.session_hours ?? 24,
        role_claim: claim.trim() || null,
        role_rules: claim.trim() ? roleRules : [],
        default_role: (defaultRole || null) as 'admin' | 'member' | null,
      },
      {
        onSuccess: ({ status }) => {
          tell(status)
          onClose()
        },
      },
    )
  }
  return (
    <Dialog title={connection ? 'Change provider' : 'Connect a provider'} onClose={onClose} size={560}>
      <form className={classes(ui.flexColumn, ui.gap12)} autoComplete="off" onSubmit={send}>
        <Registration redirectUri={redirectUri} signOutUri={signOutUri} />
        <Field
          label="Issuer URL"
          type="url"
          required
          maxLength={500}
          placeholder="https://login.coastal.example"
          data-autofocus
          value={issuer}
          onChange={(event) => setIssuer(event.target.value)}
        />
        <Field label="Client ID" required maxLength={500} value={clientId} onChange={(event) => setClientId(event.target.value)} />
        <Field
          label="Client secret"
          type="password"
          autoComplete="new-password"
          maxLength={2_000}
          value={secret}
          onChange={(event) => setSecret(event.target.value)}
          help={isSame && connection.has_secret ? 'Leave empty to keep the stored one.' : 'Kept encrypted and never shown again.'}
        />
        <Field label="Name shown to members" required maxLength={60} value={name} onChange={(event) => setName(event.target.value)} />
        <Field
          label="Role claim"
          maxLength={200}
          placeholder="groups"
          value={claim}
          onChange={(event) => setClaim(event.target.value)}
          help="Leave empty to give roles in Groundtrack only."
        />
        {claim.trim() !== '' && (
          <Field
            label="Roles by value"
            placeholder="imagery-admins=admin, reef-team=member"
            value={rules}
            onChange={(event) => setRules(event.target.value)}
            help="Values of the claim, separated by commas. Checked at every sign-in."
            error={unreadable ? 'Write each as value=admin or value=member.' : undefined}
          />
        )}
        <Choice
          label={claim.trim() === '' ? 'New members' : 'Everybody else'}
          value={defaultRole}
          onChange={(event) => setDefaultRole(event.target.value)}
          options={[
            { value: 'member', text: 'become members' },
            { value: 'admin', text: 'become admins' },
            { value: '', text: 'have no access' },
          ]}
        />
        <FormProblem error={put.error} />
        <Button type="submit" variant="primary" busy={put.isPending}>
          {connection ? 'Save' : 'Connect'}
        </Button>
      </form>
    </Dialog>
  )
}

function Registration({ redirectUri, signOutUri }: Pick<ConnectParts, 'redirectUri' | 'signOutUri'>): ReactElement {
  return (
    <>
      <p className={ui.soft}>Register Groundtrack as a web application at your provider, with these addresses.</p>
      <Address label="Redirect URI" text={redirectUri} />
      <Address label="After signing out" text={signOutUri} />
    </>
  )
}

function Address({ label, text }: { label: string; text: string }): ReactElement {
  return (
    <div className={classes(ui.flexRow, ui.gap12, ui.wrap)}>
      <div className={ui.grow}>
        <b className={ui.small}>{label}</b>
        <div className={classes(ui.mono, ui.small, ui.breakAnywhere)}>{text}</div>
      </div>
      <CopyButton text={text} />
    </div>
  )
}
