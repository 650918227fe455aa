/** Single sign-on of the organization: its provider, and whether members must use it. */
import { useState, type ReactElement } from 'react'
import type { Output } from '../../api/contract.ts'
import { useAct, useOp } from '../../api/query.ts'
import { useWho } from '../../state/who.ts'
import { classes } from '../../ui/classes.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { ago } from '../../ui/format.ts'
import { Badge, Button, Card, Choice, CopyButton, Facts, Note, Toggle } from '../../ui/kit.ts'
import { FormProblem, Loaded } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { ConnectSso } from './connect-sso.tsx'

type Sso = Output<'organizations.sso.get'>

export function SingleSignOn(): ReactElement {
  const sso = useOp('organizations.sso.get', {})
  const isOwner = useWho().role === 'owner'
  return (
    <Card title="Single sign-on">
      <Loaded query={sso}>
        {(loaded) => (
          <div className={classes(ui.flexColumn, ui.gap16)}>
            <Provider sso={loaded} isOwner={isOwner} />
            <Rules sso={loaded} isOwner={isOwner} />
            {!isOwner && <p className={classes(ui.soft, ui.small)}>Only owners can change how members sign in.</p>}
          </div>
        )}
      </Loaded>
    </Card>
  )
}

function Provider({ sso: { connection, redirect_uri, sign_out_uri, sign_in_url }, isOwner }: { sso: Sso; isOwner: boolean }): ReactElement {
  const [shown, setShown] = useState<'connect' | 'disconnect' | null>(null)
  const check = useAct('organizations.sso.check', ['organizations.sso'])
  return (
    <>
      {connection ? (
        <Facts
          rows={[
            [
              'Provider',
              <span key="provider" className={classes(ui.flexRow, ui.gap6, ui.wrap)}>
                {connection.name}
                <Badge tone={connection.status === 'verified' ? 'ok' : 'bad'}>
                  {connection.status === 'verified' ? 'connected' : 'not reachable'}
                </Badge>
                <span className={classes(ui.soft, ui.small)}>checked {ago(connection.checked_at)}</span>
              </span>,
            ],
            ['Issuer', <Code key="issuer" text={connection.issuer} />],
            ['Roles', rolesOf(connection)],
            ['Sign-in link', <Code key="link" text={sign_in_url} />],
          ]}
        />
      ) : (
        <p className={ui.soft}>
          Members sign in with a password. Connect an OpenID Connect provider, such as Entra ID, Okta, Google Workspace or Keycloak, to use
          its login instead.
        </p>
      )}
      {connection?.detail && (
        <Note tone="bad" icon="warn">
          {connection.detail}
        </Note>
      )}
      <FormProblem error={check.error} />
      {isOwner && (
        <div className={classes(ui.flexRow, ui.wrap)}>
          <Button variant={connection ? 'plain' : 'primary'} size="s" onClick={() => setShown('connect')}>
            {connection ? 'Change provider' : 'Connect a provider'}
          </Button>
          {connection && (
            <>
              <Button
                size="s"
                busy={check.isPending}
                onClick={() =>
                  check.mutate(
                    {},
                    { onSuccess: ({ status }) => toast(status === 'verified' ? 'The provider responds' : 'The provider does not respond') },
                  )
                }
              >
                Check provider
              </Button>
              <Button size="s" variant="danger" onClick={() => setShown('disconnect')}>
                Disconnect
              </Button>
            </>
          )}
        </div>
      )}
      {shown === 'connect' && (
        <ConnectSso connection={connection} redirectUri={redirect_uri} signOutUri={sign_out_uri} onClose={() => setShown(null)} />
      )}
      {shown === 'disconnect' && <Disconnect onClose={() => setShown(null)} />}
    </>
  )
}

function Code({ text }: { text: string }): ReactElement {
  return (
    <span className={classes(ui.flexRow, ui.gap6, ui.wrap)}>
      <span className={classes(ui.mono, ui.breakAnywhere)}>{text}</span>
      <CopyButton text={text} variant="quiet" />
    </span>
  )
}

function rolesOf({ role_claim, role_rules, default_role }: NonNullable<Sso['connection']>): string {
  const rest = default_role === null ? 'nobody else has access' : `everybody else is ${default_role}`
  if (role_claim === null) return default_role === null ? 'invited members only' : `new members are ${default_role}`
  return `${role_rules.map(({ value, role }) => `${value}: ${role}`).join(', ')}; ${rest} (claim ${role_claim})`
}

function Rules({ sso: { connection, rules, installation }, isOwner }: { sso: Sso; isOwner: boolean }): ReactElement | null {
  const set = useAct('organizations.sso.set_rules', ['organizations.sso'])
  if (!connection && installation === null) return null
  return (
    <div className={classes(ui.flexColumn, ui.gap12)}>
      <div className={classes(ui.flexRow, ui.gap12)}>
        <Toggle
          on={rules.required}
          label="Require single sign-on"
          disabled={!isOwner || set.isPending}
          onChange={(required) =>
            set.mutate({ required }, { onSuccess: () => toast(required ? 'Single sign-on is required' : 'Passwords work again') })
          }
        />
        <div>
          <b>Require single sign-on</b>
          <p className={classes(ui.soft, ui.small)}>
            Passwords no longer open this organization, and other sessions end. Owners can always use their password. API keys keep working.
          </p>
        </div>
      </div>
      {!connection && installation !== null && (
        <Choice
          label={`People of verified domains who sign in with ${installation}`}
          value={rules.domain_role ?? ''}
          disabled={!isOwner || set.isPending}
          onChange={(event) =>
            set.mutate({ required: rules.required, domain_role: (event.target.value || null) as 'admin' | 'member' | null })
          }
          options={[
            { value: '', text: 'need an invitation' },
            { value: 'member', text: 'join as member' },
            { value: 'admin', text: 'join as admin' },
          ]}
        />
      )}
      <FormProblem error={set.error} />
    </div>
  )
}

function Disconnect({ onClose }: { onClose(): void }): ReactElement {
  const remove = useAct('organizations.sso.delete', ['organizations.sso'])
  return (
    <Dialog title="Disconnect the provider" onClose={onClose}>
      <div className={classes(ui.flexColumn, ui.gap12)}>
        <p>
          Sessions that began there end, and members stay. Those without a password choose one with &apos;Forgot password?&apos; on the
          sign-in page.
        </p>
        <FormProblem error={remove.error} />
        <Button
          variant="danger"
          busy={remove.isPending}
          onClick={() =>
            remove.mutate(
              {},
              {
                onSuccess: () => {
                  toast('The provider is disconnected')
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
