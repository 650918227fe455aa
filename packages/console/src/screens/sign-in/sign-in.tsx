/** Sign in, sign up, ask for a new password, follow an invitation. */
import { Link, Navigate, useNavigate, useParams, useRouter, useSearch, type AnyRouter } from '@tanstack/react-router'
import { useEffect, useLayoutEffect, useState, type ReactElement, type ReactNode } from 'react'
import { queries, useInvitation } from '../../api/query.ts'
import { ProblemError, isProblem } from '../../api/problem.ts'
import { acceptInvitation, chooseOrganization, forgot, signIn, signUp, useSession, type InvitationPreview } from '../../api/session.ts'
import { canUsePasskeys, isCancelled } from '../../api/passkey-support.ts'
import { takeEarlyInput, useTakeOver } from '../../shell/first.ts'
import { date } from '../../ui/format.ts'
import { Button, Facts, Field, Note } from '../../ui/kit.ts'
import { Logo } from '../../ui/icons.tsx'
import { Failed, FormProblem } from '../../ui/states.tsx'
import { whenIdle } from '../../ui/when-idle.ts'
import { useSending } from '../../ui/sending.ts'
import { Globe } from './globe.tsx'
import { challengeOf, SecondStep, type Challenge } from './second-step.tsx'
import { ContinueWithProvider, RequiredSso } from './sso-offer.tsx'
import { classes } from '../../ui/classes.ts'
import styles from './sign-in.module.css'
import chooseOrganizationStyles from '../../shell/choose-organization.module.css'
import buttonStyles from '../../ui/button.module.css'
import fieldStyles from '../../ui/field.module.css'
import ui from '../../ui/ui.module.css'

const DEMO = { email: 'demo@groundtrack.dev', password: 'groundtrack-demo' }
const MIN_PASSWORD = 10

/** What most people see next is there when they come to it. It is read, not run: signing in stays fast. */
function fetchNext(router: AnyRouter): void {
  const link = document.createElement('link')
  link.rel = 'modulepreload'
  link.href = '/assets/maplibre-gl.mjs'
  document.head.append(link)
  void router.loadRouteChunk(router.routesByPath['/explore'])
}

export function AuthLayout({ children }: { children: ReactNode }): ReactElement {
  const router = useRouter()
  useTakeOver()
  useEffect(() => whenIdle(() => fetchNext(router)), [router])
  return (
    <div className={styles.page}>
      <div className={styles.artwork}>
        <Globe />
        <div className={styles.slogan}>
          <h2>Every scene you can buy, own or make, on one map.</h2>
          <p>Search every vendor at once. Order or task. Upload, analyse, share. Each click here is one documented API call.</p>
        </div>
      </div>
      <main className={styles.form}>
        <div className={styles.inner}>
          <div className={classes(ui.flexRow, ui.gap12, chooseOrganizationStyles.brand)}>
            <Logo />
            <b>Groundtrack</b>
          </div>
          {children}
        </div>
      </main>
    </div>
  )
}

/** Where to go once inside. Only places of our own: an address from elsewhere is not followed. */
export function useNext(): string {
  const { next } = useSearch({ strict: false })
  return next?.startsWith('/') && !next.startsWith('//') && !next.startsWith('/sign-') ? next : '/explore'
}

/** Focuses the first field, so that users can type at once. */
export function EmailField({ value, onChange }: { value: string; onChange(value: string): void }): ReactElement {
  return (
    <Field
      label="Email"
      type="email"
      autoComplete="username"
      required
      autoFocus
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}

interface PasswordParts {
  value: string
  onChange(value: string): void
  isNew?: boolean
  /** To begin with. */
  isShown?: boolean
}

function PasswordField({ value, onChange, isNew, isShown = false }: PasswordParts): ReactElement {
  const [toggled, setToggled] = useState(false)
  const shown = toggled !== isShown
  const [caps, setCaps] = useState(false)
  return (
    <Field
      label="Password"
      type={shown ? 'text' : 'password'}
      autoComplete={isNew ? 'new-password' : 'current-password'}
      required
      minLength={isNew ? MIN_PASSWORD : undefined}
      value={value}
      onChange={(event) => onChange(event.target.value)}
      onKeyUp={(event) => setCaps(event.getModifierState('CapsLock'))}
      help={caps ? 'Caps lock is on.' : isNew ? `${MIN_PASSWORD} characters or more.` : undefined}
      end={
        <button
          type="button"
          className={classes(buttonStyles.button, buttonStyles.quiet, buttonStyles.small, fieldStyles.inField)}
          onClick={() => setToggled(!toggled)}
          aria-pressed={shown}
        >
          {shown ? 'Hide' : 'Show'}
        </button>
      }
    />
  )
}

function SignInProblem({ error }: { error: unknown }): ReactElement | null {
  if (error instanceof ProblemError && error.status === 401)
    return (
      <Note tone="bad" icon="warn">
        <b>Email and password do not match.</b> Check both; after ten wrong passwords an account rests for 15 minutes.
      </Note>
    )
  if (isProblem(error, 'too-many-attempts', 'rate-limited'))
    return (
      <Note tone="bad" icon="clock">
        <b>Account temporarily locked.</b>{' '}
        {error.retryAfterSeconds ? `Try again in ${Math.ceil(error.retryAfterSeconds / 60)} min.` : error.message}
      </Note>
    )
  if (isProblem(error, 'sso-required')) return <RequiredSso error={error} />
  return <FormProblem error={error} />
}

function PasskeyProblem({ error }: { error: unknown }): ReactElement | null {
  if (!error) return null
  if (isCancelled(error))
    return (
      <Note tone="warn" icon="key">
        No passkey was used. Sign in with your password, or try again.
      </Note>
    )
  if (isProblem(error, 'unauthorized'))
    return (
      <Note tone="bad" icon="warn">
        <b>This passkey does not belong to an account here.</b> Sign in with your password.
      </Note>
    )
  return <FormProblem error={error} />
}

/** The demo is offered where the service itself is on this machine; elsewhere its account does not work. */
const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(location.hostname)

export function SignIn(): ReactElement {
  const session = useSession()
  const next = useNext()
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [challenge, setChallenge] = useState<Challenge | null>(null)
  const enter = (name: string, secret: string) =>
    signIn(name, secret).catch((error: unknown) => {
      const asked = challengeOf(error)
      if (!asked) throw error
      setChallenge(asked)
    })
  const form = useSending(() => enter(email, password))
  const demo = useSending(() => enter(DEMO.email, DEMO.password))
  const passkey = useSending(async () => await (await import('../../api/passkey-sign-in.ts')).enterByPasskey())
  const [isShown, setShown] = useState(false)
  const [isSent, setSent] = useState(false)
  useEffect(() => {
    document.title = 'Sign in · Groundtrack'
  }, [])
  // What was typed before the console ran stays, and what was pressed is done.
  useLayoutEffect(() => {
    const early = takeEarlyInput()
    const field = (name: string) => document.querySelector<HTMLInputElement>(`.${styles.page} input[autocomplete='${name}']`)!
    setEmail((field('username').value = early.email)) // Into the field as well, so that its cursor stands behind what is there.
    setPassword((field('current-password').value = early.password))
    if (early.focused) field(early.focused).focus()
    setShown(early.pressed === 'show')
    if (early.pressed === 'demo') demo.send()
    if (early.pressed === 'sign-in') setSent(true)
    // oxlint-disable-next-line exhaustive-deps
  }, [])
  // The form is sent once its fields have their values.
  useEffect(() => {
    if (isSent) form.send()
    // oxlint-disable-next-line exhaustive-deps
  }, [isSent])
  if (session.state === 'in') return <Navigate to={next} replace />
  if (challenge)
    return (
      <AuthLayout>
        <SecondStep challenge={challenge} onBack={() => setChallenge(null)} />
      </AuthLayout>
    )
  return (
    <AuthLayout>
      <h1>Sign in</h1>
      <p className={ui.soft}>
        to <b>{location.host}</b>
      </p>
      <form className={classes(ui.flexColumn, ui.gap16, ui.marginTop24)} onSubmit={form.send}>
        <EmailField value={email} onChange={setEmail} />
        <PasswordField value={password} onChange={setPassword} isShown={isShown} />
        <SignInProblem error={form.error ?? demo.error} />
        <PasskeyProblem error={passkey.error} />
        <Button type="submit" variant="primary" size="l" wide busy={form.busy}>
          Sign in
        </Button>
      </form>
      <ContinueWithProvider next={next} />
      <p className={classes(ui.soft, ui.small, ui.marginTop16)}>
        No account? <Link to="/sign-up">Create one</Link>. It takes an email, a name and a password.{' '}
        <Link to="/forgot">Forgot password?</Link>
        {canUsePasskeys && (
          <>
            {' '}
            <button type="button" className={ui.asLink} onClick={() => passkey.send()} disabled={passkey.busy}>
              Sign in with a passkey
            </button>
          </>
        )}
      </p>
      <p className={classes(ui.soft, ui.small, ui.marginTop16)}>
        Your organization has its own login?{' '}
        <Link to="/sign-in/sso" search={{ next }}>
          Sign in with SSO
        </Link>
      </p>
      {isHere && (
        <div className={ui.marginTop16}>
          <Note>
            <b>Demo on this machine</b>
            <br />
            {DEMO.email}, with scenes and 50,000 credits in place.{' '}
            <button type="button" className={ui.asLink} onClick={() => demo.send()} disabled={demo.busy}>
              Use the demo
            </button>
          </Note>
        </div>
      )}
      <p className={classes(ui.faint, ui.tiny, ui.marginTop16)}>You&apos;re signed out after 30 days of inactivity.</p>
    </AuthLayout>
  )
}

/** The answer is the same for every address, so that nobody learns who has an account. */
export function Forgot(): ReactElement {
  const [email, setEmail] = useState('')
  const [isSent, setSent] = useState(false)
  const form = useSending(async () => {
    await forgot(email)
    setSent(true)
  })
  useEffect(() => {
    document.title = 'Forgotten password · Groundtrack'
  }, [])
  return (
    <AuthLayout>
      <h1>Forgotten password</h1>
      <p className={ui.soft}>We&apos;ll email you a reset link. It works once and expires in 30 minutes.</p>
      <form className={classes(ui.flexColumn, ui.gap16, ui.marginTop24)} onSubmit={form.send}>
        <EmailField value={email} onChange={setEmail} />
        <FormProblem error={form.error} />
        {isSent && (
          <Note tone="ok" icon="check">
            <b>If {email} has an account here, a mail is on its way.</b> Where the service sends no mails, whoever runs it sets a new
            password with <span className={ui.mono}>npm run user</span>.
          </Note>
        )}
        <Button type="submit" variant="primary" size="l" wide busy={form.busy}>
          Send the mail
        </Button>
      </form>
      <p className={classes(ui.soft, ui.small, ui.marginTop16)}>
        <Link to="/sign-in">Back to the sign-in</Link>
      </p>
    </AuthLayout>
  )
}

export function SignUp(): ReactElement {
  const session = useSession()
  const next = useNext()
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const form = useSending(() => signUp(email, password, name))
  useEffect(() => {
    document.title = 'Create an account · Groundtrack'
  }, [])
  if (session.state === 'in') return <Navigate to={next === '/explore' ? '/welcome' : next} replace />
  return (
    <AuthLayout>
      <h1>Create an account</h1>
      <p className={ui.soft}>
        at <b>{location.host}</b>
      </p>
      <form className={classes(ui.flexColumn, ui.gap16, ui.marginTop24)} onSubmit={form.send}>
        <Field label="Name" autoComplete="name" required autoFocus value={name} onChange={(event) => setName(event.target.value)} />
        <Field
          label="Email"
          type="email"
          autoComplete="username"
          required
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
        <PasswordField isNew value={password} onChange={setPassword} />
        <FormProblem error={form.error} />
        <Button type="submit" variant="primary" size="l" wide busy={form.busy}>
          Create account
        </Button>
      </form>
      <p className={classes(ui.soft, ui.small, ui.marginTop16)}>
        Already have an account? <Link to="/sign-in">Sign in</Link>.
      </p>
    </AuthLayout>
  )
}

const InvitationFacts = ({ of: { organization, role, project, project_role, inviter, email, expires_at } }: { of: InvitationPreview }) => (
  <>
    <p className={ui.soft}>{inviter ? `${inviter} invites you` : 'You are invited'} to join this organization. The link works once.</p>
    <div className={ui.marginTop16}>
      <Facts
        rows={[
          ['Organization', organization],
          ['Role', role],
          ...(project ? [['Project', `${project}, as ${project_role}`] as const] : []),
          ...(inviter ? [['Invited by', inviter] as const] : []),
          ['Sent to', email],
          ['Expires', date(expires_at)],
        ]}
      />
    </div>
  </>
)

/** `/app/invite/…`: who is signed in joins with one click; others sign in or up first and come back here. */
export function Invitation(): ReactElement {
  const { token } = useParams({ from: '/invite/$token' })
  const session = useSession()
  const navigate = useNavigate()
  const join = useSending(async () => {
    const { organization_id } = await acceptInvitation(token)
    await chooseOrganization(organization_id)
    queries.clear()
    await navigate({ to: '/explore' })
  })
  const invitation = useInvitation(token)
  const next = `/invite/${token}`
  if (invitation.isError)
    return (
      <AuthLayout>
        <h1>Invitation not available</h1>
        <Failed error={invitation.error} retry={() => void invitation.refetch()} />
      </AuthLayout>
    )
  return (
    <AuthLayout>
      <h1>{invitation.data ? `Join ${invitation.data.organization}` : 'You are invited'}</h1>
      {invitation.data && <InvitationFacts of={invitation.data} />}
      <div className={classes(ui.flexColumn, ui.gap16, ui.marginTop24)}>
        <FormProblem error={join.error} />
        {session.state === 'in' ? (
          <Button variant="primary" size="l" wide busy={join.busy} onClick={() => join.send()}>
            Join as {session.user?.email}
          </Button>
        ) : (
          <>
            <Link
              className={classes(buttonStyles.button, buttonStyles.primary, buttonStyles.large, buttonStyles.wide)}
              to="/sign-in"
              search={{ next }}
            >
              Sign in and join
            </Link>
            <Link className={classes(buttonStyles.button, buttonStyles.large, buttonStyles.wide)} to="/sign-up" search={{ next }}>
              Create an account and join
            </Link>
          </>
        )}
      </div>
    </AuthLayout>
  )
}
