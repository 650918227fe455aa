/** The second factors of the account: authenticator app, passkeys and recovery codes. */
import { useQueryClient } from '@tanstack/react-query'
import { useState, type ReactElement, type ReactNode } from 'react'
import { createPasskey, post, useTwoFactors, type Presence, type TwoFactors } from '../../api/account.ts'
import { canUsePasskeys } from '../../api/passkey-support.ts'
import { touch } from '../../api/query.ts'
import { classes } from '../../ui/classes.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { date } from '../../ui/format.ts'
import { Badge, Button, Card, CopyButton, Field, Note } from '../../ui/kit.ts'
import { Icon, type IconName } from '../../ui/icons.tsx'
import { QrCode } from '../../ui/qr-code.tsx'
import { useSending } from '../../ui/sending.ts'
import { FormProblem, Loaded } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { PresenceDialog } from './presence.tsx'
import styles from './factors.module.css'
import listStyles from '../../ui/list.module.css'
import ui from '../../ui/ui.module.css'

type Step =
  | { kind: 'add-app' | 'add-passkey' | 'remove-app' | 'renew-codes' }
  | { kind: 'confirm-app'; secret: string; uri: string }
  | { kind: 'remove-passkey'; id: string; name: string }
  | { kind: 'show-codes'; codes: readonly string[] }

export function TwoFactorCard(): ReactElement {
  const twoFactors = useTwoFactors()
  const [step, setStep] = useState<Step | null>(null)
  const client = useQueryClient()
  const close = () => {
    setStep(null)
    void touch(client, ['/auth/', 'organizations.']) // Only now: recovery codes stay on screen until they are saved.
  }
  return (
    <Card
      title="Two-factor sign-in"
      aside={twoFactors.data && <Badge tone={twoFactors.data.is_on ? 'ok' : 'warn'}>{twoFactors.data.is_on ? 'On' : 'Off'}</Badge>}
    >
      <Loaded query={twoFactors} rows={3}>
        {(data) => (
          <>
            <p className={ui.soft}>
              {data.is_on
                ? 'Signing in with your password requires one of these. A passkey also signs you in without a password.'
                : 'A second factor protects your account even if someone knows your password. API keys are not affected.'}
            </p>
            {data.required_by.length > 0 && (
              <p className={classes(ui.soft, ui.small, ui.marginTop8)}>Required by {data.required_by.join(', ')}.</p>
            )}
            <Factors data={data} onStep={setStep} />
            {step && <StepDialog step={step} data={data} onStep={setStep} onClose={close} />}
          </>
        )}
      </Loaded>
    </Card>
  )
}

function Row({ icon, title, about, children }: { icon: IconName; title: string; about: string; children?: ReactNode }): ReactElement {
  return (
    <li className={classes(listStyles.entry, listStyles.inCard)}>
      <span className={ui.avatar}>
        <Icon name={icon} />
      </span>
      <div className={ui.grow}>
        <b>{title}</b>
        <div className={classes(ui.soft, ui.small)}>{about}</div>
      </div>
      {children}
    </li>
  )
}

function passkeyText({ is_synced, created_at, last_used_at }: TwoFactors['passkeys'][number]): string {
  const use = last_used_at ? `last used ${date(last_used_at)}` : 'never used'
  return `Passkey${is_synced ? ', backed up' : ''}, added ${date(created_at)}, ${use}`
}

function Factors({ data, onStep }: { data: TwoFactors; onStep(step: Step): void }): ReactElement {
  return (
    <>
      <ul className={classes(listStyles.plain, ui.marginTop12)}>
        <Row
          icon="clock"
          title="Authenticator app"
          about={data.authenticator ? `Added ${date(data.authenticator.created_at)}` : 'Codes from an app on your phone'}
        >
          <Button size="s" onClick={() => onStep({ kind: 'add-app' })}>
            {data.authenticator ? 'Replace app' : 'Add app'}
          </Button>
          {data.authenticator && (
            <Button size="s" variant="danger" onClick={() => onStep({ kind: 'remove-app' })}>
              Remove app
            </Button>
          )}
        </Row>
        {data.passkeys.map((passkey) => (
          <Row key={passkey.id} icon="key" title={passkey.name} about={passkeyText(passkey)}>
            <Button
              size="s"
              variant="danger"
              label={`Remove passkey ${passkey.name}`}
              onClick={() => onStep({ kind: 'remove-passkey', id: passkey.id, name: passkey.name })}
            >
              Remove
            </Button>
          </Row>
        ))}
        <Row
          icon="key"
          title="Passkeys"
          about={canUsePasskeys ? 'Fingerprint, face, PIN or a security key' : 'Passkeys require a host name; this page has an IP address'}
        >
          <Button size="s" disabled={!canUsePasskeys} onClick={() => onStep({ kind: 'add-passkey' })}>
            Add passkey
          </Button>
        </Row>
        {data.is_on && (
          <Row icon="lock" title="Recovery codes" about={`${data.recovery_codes_left} of 10 left, for when you lose your factors`}>
            <Button size="s" onClick={() => onStep({ kind: 'renew-codes' })}>
              Create new codes
            </Button>
          </Row>
        )}
      </ul>
    </>
  )
}

interface StepParts {
  step: Step
  data: TwoFactors
  onStep(step: Step): void
  onClose(): void
}

function StepDialog({ step, data, onStep, onClose }: StepParts): ReactElement {
  const done = (text: string, codes: readonly string[] | null = null) => {
    toast(text)
    if (codes) onStep({ kind: 'show-codes', codes })
    else onClose()
  }
  const parts = { twoFactors: data, onClose }
  switch (step.kind) {
    case 'add-app':
      return (
        <PresenceDialog
          {...parts}
          title={data.authenticator ? 'Replace authenticator app' : 'Add authenticator app'}
          action="Continue"
          onProved={async (presence) =>
            onStep({
              kind: 'confirm-app',
              ...(await post<{ secret: string; uri: string }>('/auth/two-factors/authenticator/start', presence)),
            })
          }
        />
      )
    case 'confirm-app':
      return <ConfirmApp {...step} onDone={(codes) => done('Authenticator app added', codes)} onClose={onClose} />
    case 'add-passkey':
      return <AddPasskey {...parts} onDone={(codes) => done('Passkey added', codes)} />
    case 'remove-app':
      return (
        <PresenceDialog
          {...parts}
          title="Remove authenticator app"
          action="Remove app"
          isDanger
          onProved={async (presence) => {
            await post('/auth/two-factors/authenticator/remove', presence)
            done('Authenticator app removed')
          }}
        >
          <LastFactor data={data} />
        </PresenceDialog>
      )
    case 'remove-passkey':
      return (
        <PresenceDialog
          {...parts}
          title={`Remove passkey ${step.name}`}
          action="Remove passkey"
          isDanger
          onProved={async (presence) => {
            await post('/auth/two-factors/passkeys/remove', { passkey_id: step.id, ...presence })
            done('Passkey removed')
          }}
        >
          <LastFactor data={data} />
        </PresenceDialog>
      )
    case 'renew-codes':
      return (
        <PresenceDialog
          {...parts}
          title="Create new recovery codes"
          action="Create codes"
          onProved={async (presence) => {
            const { recovery_codes } = await post<{ recovery_codes: string[] }>('/auth/two-factors/recovery-codes', presence)
            done('New recovery codes created', recovery_codes)
          }}
        >
          <p>The codes that you have now stop working.</p>
        </PresenceDialog>
      )
    case 'show-codes':
      return <RecoveryCodes codes={step.codes} onClose={onClose} />
  }
}

function LastFactor({ data }: { data: TwoFactors }): ReactElement {
  const isLast = data.passkeys.length + (data.authenticator ? 1 : 0) === 1
  return <p>{isLast ? 'This is your last factor: afterwards your password alone signs you in.' : 'Your other factors stay.'}</p>
}

interface ConfirmParts {
  secret: string
  uri: string
  onDone(codes: readonly string[] | null): void
  onClose(): void
}

function ConfirmApp({ secret, uri, onDone, onClose }: ConfirmParts): ReactElement {
  const [code, setCode] = useState('')
  const form = useSending(async () => {
    const confirmed = await post<{ recovery_codes: string[] | null }>('/auth/two-factors/authenticator/confirm', { code })
    onDone(confirmed.recovery_codes)
  })
  return (
    <Dialog title="Scan the QR code" onClose={onClose}>
      <form className={classes(ui.flexColumn, ui.gap16)} onSubmit={form.send}>
        <p>Scan this code with your authenticator app, or enter the secret there. Then enter the code that the app shows.</p>
        <QrCode text={uri} label="QR code for the authenticator app" isLarge />
        <div className={classes(ui.flexRow, ui.gap8, ui.wrap)}>
          <output className={classes(ui.mono, ui.breakAnywhere)} aria-label="Secret">
            {secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}
          </output>
          <CopyButton text={secret} />
        </div>
        <Field
          label="Code"
          inputMode="numeric"
          autoComplete="one-time-code"
          required
          data-autofocus
          value={code}
          onChange={(event) => setCode(event.target.value)}
        />
        <FormProblem error={form.error} />
        <Button type="submit" variant="primary" busy={form.busy}>
          Confirm app
        </Button>
      </form>
    </Dialog>
  )
}

const MAX_NAME = 100

/** What the passkey will be called in the list, before the user changes it. */
function suggestedName(): string {
  const system = /iPhone|iPad|Android|Windows|Mac|CrOS|Linux/.exec(navigator.userAgent)?.[0]
  return system ? `Passkey on ${system}` : 'Passkey'
}

interface AddPasskeyParts {
  twoFactors: TwoFactors
  onDone(codes: readonly string[] | null): void
  onClose(): void
}

function AddPasskey({ twoFactors, onDone, onClose }: AddPasskeyParts): ReactElement {
  const [name, setName] = useState(suggestedName)
  const add = async (presence: Presence) => onDone((await createPasskey(presence, name)).recovery_codes)
  return (
    <PresenceDialog twoFactors={twoFactors} title="Add passkey" action="Create passkey" onProved={add} onClose={onClose}>
      <p>Your browser asks for your fingerprint, face, PIN or security key.</p>
      <Field label="Name of the passkey" required maxLength={MAX_NAME} value={name} onChange={(event) => setName(event.target.value)} />
    </PresenceDialog>
  )
}

function RecoveryCodes({ codes, onClose }: { codes: readonly string[]; onClose(): void }): ReactElement {
  return (
    <Dialog title="Save your recovery codes" onClose={onClose}>
      <div className={classes(ui.flexColumn, ui.gap16)}>
        <Note tone="warn" icon="warn">
          <b>They are shown once.</b> Each code replaces a lost factor once. Keep them where you would find them without your phone.
        </Note>
        <ul className={classes(listStyles.plain, styles.codes, ui.mono)} aria-label="Recovery codes">
          {codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ul>
        <div className={classes(ui.flexRow, ui.gap8, ui.wrap)}>
          <CopyButton text={codes.join('\n')} label="Copy codes" />
          <Button variant="primary" onClick={onClose}>
            I saved the codes
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
