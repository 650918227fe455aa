/** Single sign-on: which provider, and what happens on the way back. */
import { Link, Navigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState, type ReactElement, type ReactNode } from 'react'
import { enterFromProvider, findSso, useSession, type SsoChoice } from '../../api/session.ts'
import { classes } from '../../ui/classes.ts'
import { Button, Note } from '../../ui/kit.ts'
import { Failed, FormProblem } from '../../ui/states.tsx'
import buttonStyles from '../../ui/button.module.css'
import ui from '../../ui/ui.module.css'
import { useSending } from '../../ui/sending.ts'
import { AuthLayout, EmailField, useNext } from './sign-in.tsx'
import { startUrl } from './sso-offer.tsx'

export function SsoSignIn(): ReactElement {
  const session = useSession()
  const next = useNext()
  const [email, setEmail] = useState('')
  const [choices, setChoices] = useState<SsoChoice[]>([])
  const form = useSending(async () => {
    const found = await findSso(email)
    if (found.length === 1) location.assign(startUrl(found[0]!.url, { next, email }))
    else setChoices(found)
  })
  useEffect(() => {
    document.title = 'Sign in with SSO · Groundtrack'
  }, [])
  if (session.state === 'in') return <Navigate to={next} replace />
  return (
    <AuthLayout>
      <h1>Sign in with SSO</h1>
      <p className={ui.soft}>Enter your work email. We&apos;ll take you to your organization&apos;s login.</p>
      <form className={classes(ui.flexColumn, ui.gap16, ui.marginTop24)} onSubmit={form.send}>
        <EmailField value={email} onChange={setEmail} />
        <FormProblem error={form.error} />
        <Button type="submit" variant="primary" size="l" wide busy={form.busy}>
          Continue
        </Button>
      </form>
      {choices.length > 0 && (
        <nav className={classes(ui.flexColumn, ui.gap12, ui.marginTop16)} aria-label="Organizations of this domain">
          {choices.map(({ url, name }) => (
            <a
              key={url}
              className={classes(buttonStyles.button, buttonStyles.large, buttonStyles.wide)}
              href={startUrl(url, { next, email })}
            >
              {name}
            </a>
          ))}
        </nav>
      )}
      <p className={classes(ui.soft, ui.small, ui.marginTop16)}>
        <Link to="/sign-in" search={{ next }}>
          Sign in with a password
        </Link>
      </p>
    </AuthLayout>
  )
}

const PROBLEMS: Readonly<Record<string, { title: string; text: ReactNode }>> = {
  'not-configured': {
    title: 'Single sign-on is not set up',
    text: 'This organization has no provider connected. Sign in with your password, or ask an owner.',
  },
  expired: {
    title: 'This sign-in has expired',
    text: 'A sign-in must be finished within 10 minutes, in the browser that began it, and works once. Start again.',
  },
  cancelled: { title: 'Sign-in cancelled', text: 'You cancelled at the login of your organization. Nothing was changed.' },
  provider: {
    title: 'Your login did not work',
    text: "The provider's response could not be verified. If it happens again, ask an owner of your organization to check the connection.",
  },
  'unverified-email': {
    title: 'Your email address is not verified',
    text: 'The provider does not confirm that the address is yours. Verify it there, or ask the administrator of your login.',
  },
  'foreign-domain': {
    title: 'Your email domain is not accepted',
    text: 'The organization has not verified the domain of your address. Ask an owner to add it under Team, Organization.',
  },
  'no-access': {
    title: 'No access to this organization',
    text: 'Your login works, but no group of yours has access here. Ask the administrator of your login to add you.',
  },
  'no-account': {
    title: 'No account for this address',
    text: 'New accounts are not created automatically here. Ask for an invitation, then sign in.',
  },
  'operator-account': {
    title: 'Use your password',
    text: "Accounts of operators cannot be used through an organization's provider.",
  },
  disabled: { title: 'Your account is disabled', text: 'Ask the operator of this service to enable it.' },
  'sso-required': {
    title: 'Use the login of your organization',
    text: 'Your organization requires its own single sign-on. Continue with your work email.',
  },
  busy: { title: 'Too many attempts', text: 'Wait 15 minutes, then try again.' },
}
const UNKNOWN = { title: 'Sign-in failed', text: 'Something went wrong on the way back. Start again.' }

/** Where providers lead back to: the session begins, or the reason why not. */
export function SsoReturn(): ReactElement {
  const { problem, organization } = useSearch({ from: '/sso' })
  return problem === undefined ? <Entering /> : <NotEntered problem={problem} organization={organization} />
}

function Entering(): ReactElement {
  const session = useSession()
  const next = useNext()
  const [error, setError] = useState<unknown>(null)
  const [tries, setTries] = useState(0)
  const [isIn, setIn] = useState(false)
  useEffect(() => {
    setError(null)
    enterFromProvider().then(() => setIn(true), setError)
  }, [tries])
  if (isIn && session.state === 'in') return <Navigate to={next} replace />
  return (
    <AuthLayout>
      <h1>Signing in</h1>
      {error ? <Failed error={error} retry={() => setTries(tries + 1)} /> : <p className={ui.soft}>One moment.</p>}
    </AuthLayout>
  )
}

function NotEntered({ problem, organization }: { problem: string; organization: string | undefined }): ReactElement {
  const next = useNext()
  const { title, text } = PROBLEMS[problem] ?? UNKNOWN
  const start = organization && /^[\da-f-]{36}$/.test(organization) ? `/auth/sso/start?organization=${organization}` : null
  useEffect(() => {
    document.title = `${title} · Groundtrack`
  }, [title])
  return (
    <AuthLayout>
      <h1>{title}</h1>
      <div className={ui.marginTop16}>
        <Note tone="warn" icon="warn">
          {text}
        </Note>
      </div>
      <div className={classes(ui.flexColumn, ui.gap12, ui.marginTop24)}>
        {start && problem !== 'not-configured' ? (
          <a
            className={classes(buttonStyles.button, buttonStyles.primary, buttonStyles.large, buttonStyles.wide)}
            href={startUrl(start, { next })}
          >
            Try again
          </a>
        ) : (
          <Link
            className={classes(buttonStyles.button, buttonStyles.primary, buttonStyles.large, buttonStyles.wide)}
            to="/sign-in/sso"
            search={{ next }}
          >
            Sign in with SSO
          </Link>
        )}
        <Link className={classes(buttonStyles.button, buttonStyles.large, buttonStyles.wide)} to="/sign-in" search={{ next }}>
          Sign in with a password
        </Link>
      </div>
    </AuthLayout>
  )
}
