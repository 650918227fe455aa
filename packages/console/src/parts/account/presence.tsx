/** Asks for a second factor, or for the password of an account without one, before something lasting changes. */
import { useState, type ReactElement, type ReactNode } from 'react'
import { provePresence, type Presence, type TwoFactors } from '../../api/account.ts'
import { canUsePasskeys, isCancelled } from '../../api/passkey-support.ts'
import { classes } from '../../ui/classes.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Button, Field, Note } from '../../ui/kit.ts'
import { useSending } from '../../ui/sending.ts'
import { FormProblem } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'

interface PresenceParts {
  title: string
  /** What will happen. */
  children?: ReactNode
  twoFactors: TwoFactors
  action: string
  isDanger?: boolean
  onProved(presence: Presence): Promise<void>
  onClose(): void
}

const factorOf = (text: string): Presence => (/^[\d\s]+$/.test(text) ? { code: text } : { recovery_code: text })

export function PresenceDialog({ title, children, twoFactors, action, isDanger, onProved, onClose }: PresenceParts): ReactElement {
  const { is_on: isOn, authenticator, passkeys } = twoFactors
  const [text, setText] = useState('')
  const form = useSending(() => onProved(isOn ? factorOf(text) : { password: text }))
  const passkey = useSending(async () => await onProved(await provePresence()))
  const label = isOn ? (authenticator ? 'Code or recovery code' : 'Recovery code') : 'Current password'
  return (
    <Dialog title={title} onClose={onClose}>
      <form className={classes(ui.flexColumn, ui.gap16)} onSubmit={form.send}>
        {children}
        <Field
          label={label}
          type={isOn ? 'text' : 'password'}
          autoComplete={isOn ? 'one-time-code' : 'current-password'}
          required
          data-autofocus
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <PasskeyOrFormProblem error={form.error ?? passkey.error} />
        <div className={classes(ui.flexRow, ui.gap8, ui.wrap)}>
          <Button type="submit" variant={isDanger ? 'danger' : 'primary'} busy={form.busy}>
            {action}
          </Button>
          {passkeys.length > 0 && canUsePasskeys && (
            <Button icon="key" busy={passkey.busy} onClick={() => passkey.send()}>
              Use a passkey
            </Button>
          )}
        </div>
      </form>
    </Dialog>
  )
}

function PasskeyOrFormProblem({ error }: { error: unknown }): ReactElement | null {
  if (isCancelled(error))
    return (
      <Note tone="warn" icon="key">
        The passkey was not used. Try again.
      </Note>
    )
  if (error instanceof Error && error.name === 'InvalidStateError')
    return (
      <Note tone="warn" icon="key">
        This device already has a passkey for this account.
      </Note>
    )
  return <FormProblem error={error} />
}
