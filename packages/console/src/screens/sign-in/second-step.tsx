/** The second step of a sign-in: a code, a recovery code or a passkey. */
import { useState, type ReactElement } from 'react'
import { isProblem } from '../../api/problem.ts'
import { canUsePasskeys, isCancelled } from '../../api/passkey-support.ts'
import { completeSignIn } from '../../api/session.ts'
import { Button, Field, Note } from '../../ui/kit.ts'
import { useSending } from '../../ui/sending.ts'
import { FormProblem } from '../../ui/states.tsx'
import { classes } from '../../ui/classes.ts'
import ui from '../../ui/ui.module.css'

export interface Challenge {
  challenge_token: string
  factors: readonly string[]
}

/** What the service returned instead of a session; null if it is another error. */
export const challengeOf = (error: unknown): Challenge | null =>
  isProblem(error, 'second-factor-required') ? (error.problem as unknown as Challenge) : null

export function SecondStep({ challenge, onBack }: { challenge: Challenge; onBack(): void }): ReactElement {
  const { challenge_token, factors } = challenge
  const hasPasskey = factors.includes('passkey') && canUsePasskeys
  const [isRecovering, setRecovering] = useState(!factors.includes('code') && !hasPasskey)
  const [code, setCode] = useState('')
  const form = useSending(async () => await completeSignIn({ challenge_token, ...(isRecovering ? { recovery_code: code } : { code }) }))
  const passkey = useSending(async () => await (await import('../../api/passkey-sign-in.ts')).completeByPasskey(challenge_token))
  const asksForCode = isRecovering || factors.includes('code')
  return (
    <>
      <h1>Two-factor sign-in</h1>
      <p className={ui.soft}>
        {isRecovering
          ? 'Enter one of your recovery codes. Each works once.'
          : asksForCode
            ? 'Enter the code that your authenticator app shows.'
            : 'Use the passkey of this account.'}
      </p>
      <form className={classes(ui.flexColumn, ui.gap16, ui.marginTop24)} onSubmit={form.send}>
        {asksForCode && (
          <Field
            key={String(isRecovering)}
            label={isRecovering ? 'Recovery code' : 'Code'}
            autoComplete={isRecovering ? 'off' : 'one-time-code'}
            inputMode={isRecovering ? 'text' : 'numeric'}
            required
            autoFocus
            value={code}
            onChange={(event) => setCode(event.target.value)}
          />
        )}
        <StepProblem error={form.error ?? passkey.error} />
        {asksForCode && (
          <Button type="submit" variant="primary" size="l" wide busy={form.busy}>
            Verify
          </Button>
        )}
        {hasPasskey && (
          <Button variant={asksForCode ? 'plain' : 'primary'} size="l" wide icon="key" busy={passkey.busy} onClick={() => passkey.send()}>
            Use a passkey
          </Button>
        )}
      </form>
      <p className={classes(ui.soft, ui.small, ui.marginTop16, ui.flexRow, ui.gap12)}>
        {factors.includes('recovery_code') && (factors.includes('code') || hasPasskey) && (
          <button
            type="button"
            className={ui.asLink}
            onClick={() => {
              setCode('')
              setRecovering(!isRecovering)
            }}
          >
            {isRecovering ? 'Use another factor' : 'Use a recovery code'}
          </button>
        )}
        <button type="button" className={ui.asLink} onClick={onBack}>
          Start over
        </button>
      </p>
    </>
  )
}

function StepProblem({ error }: { error: unknown }): ReactElement | null {
  if (isCancelled(error))
    return (
      <Note tone="warn" icon="key">
        The passkey was not used. Try again, or use another factor.
      </Note>
    )
  if (isProblem(error, 'unauthorized'))
    return (
      <Note tone="bad" icon="clock">
        <b>This sign-in has expired.</b> Start over.
      </Note>
    )
  return <FormProblem error={error} />
}
