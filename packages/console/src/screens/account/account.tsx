/** The signed-in user's own account. */
import { useState, type ReactElement, type ReactNode } from 'react'
import { useNavigate } from '@tanstack/react-router'
import { post, useAccountChange, useSessions, type Session } from '../../api/account.ts'
import { queries, useMe } from '../../api/query.ts'
import { leave, renameUser } from '../../api/session.ts'
import { useTitle } from '../../state/crumbs.ts'
import { useWho } from '../../state/who.ts'
import { classes } from '../../ui/classes.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { ago, dateTime, plural } from '../../ui/format.ts'
import { Badge, Button, Card, Choice, Field, Note, Page, Segmented } from '../../ui/kit.ts'
import { Icon } from '../../ui/icons.tsx'
import { useSending } from '../../ui/sending.ts'
import { FormProblem, Loaded } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { TwoFactorCard } from '../../parts/account/two-factors.tsx'
import styles from './account.module.css'
import listStyles from '../../ui/list.module.css'
import ui from '../../ui/ui.module.css'

const MIN_PASSWORD = 10

export function Account(): ReactElement {
  useTitle('Account')
  return (
    <Page title="Account" about="How you sign in, and how the console shows numbers.">
      <div className={styles.columns}>
        <div>
          <Profile />
          <EmailAddress />
          <Password />
        </div>
        <div>
          <TwoFactorCard />
          <Sessions />
          <Formats />
          <DeleteAccount />
        </div>
      </div>
    </Page>
  )
}

function Profile(): ReactElement {
  const who = useWho()
  const [name, setName] = useState(who.name)
  const save = useAccountChange(async () => {
    await post('/auth/settings', { name })
    renameUser({ name: name.trim() })
    toast('Name saved')
  })
  return (
    <ChangeForm title="Profile" action="Save name" change={save} isDisabled={name.trim() === who.name}>
      <Field label="Name" autoComplete="name" required maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />
    </ChangeForm>
  )
}

interface ChangeFormParts {
  title: string
  action: string
  change: { mutate(input: undefined): void; isPending: boolean; error: Error | null }
  isDisabled?: boolean
  children: ReactNode
}

/** A card with the fields of one change, and the button that sends it. */
const ChangeForm = ({ title, action, change, isDisabled, children }: ChangeFormParts): ReactElement => (
  <Card title={title}>
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault()
        change.mutate(undefined)
      }}
    >
      {children}
      <FormProblem error={change.error} />
      <Button type="submit" busy={change.isPending} disabled={isDisabled}>
        {action}
      </Button>
    </form>
  </Card>
)

function EmailAddress(): ReactElement {
  const me = useMe()
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const change = useAccountChange(async () => {
    await post('/auth/email', { email, password })
    setPassword('')
  })
  const pending = me.data?.pending_email
  return (
    <ChangeForm title="Email address" action="Change email address" change={change}>
      <p>
        You sign in with <b>{me.data?.user.email}</b>.
      </p>
      {pending && (
        <Note tone="warn" icon="clock">
          <b>Confirm {pending}.</b> Use the link in the email that we sent there; it works for 24 hours. Until then, nothing changes.
        </Note>
      )}
      <Field
        label="New email address"
        type="email"
        autoComplete="email"
        required
        value={email}
        onChange={(event) => setEmail(event.target.value)}
      />
      <Field
        label="Password to confirm the change"
        type="password"
        autoComplete="current-password"
        required
        value={password}
        onChange={(event) => setPassword(event.target.value)}
      />
    </ChangeForm>
  )
}

function Password(): ReactElement {
  const [password, setPassword] = useState('')
  const [next, setNext] = useState('')
  const change = useAccountChange(async () => {
    await post('/auth/password', { password, new_password: next })
    setPassword('')
    setNext('')
    toast('Password changed. Other sessions have ended.')
  })
  return (
    <ChangeForm title="Password" action="Change password" change={change}>
      <Field
        label="Current password"
        type="password"
        autoComplete="current-password"
        required
        value={password}
        onChange={(event) => setPassword(event.target.value)}
      />
      <Field
        label="New password"
        type="password"
        autoComplete="new-password"
        required
        minLength={MIN_PASSWORD}
        help={`${MIN_PASSWORD} characters or more. All other sessions end.`}
        value={next}
        onChange={(event) => setNext(event.target.value)}
      />
    </ChangeForm>
  )
}

function Sessions(): ReactElement {
  const sessions = useSessions()
  const endOthers = useAccountChange(async () => {
    await post('/auth/sessions/end-others')
    toast('All other sessions have ended')
  })
  const others = (sessions.data?.sessions ?? []).filter(({ is_current }) => !is_current).length
  return (
    <Card
      title="Sessions"
      aside={
        others > 0 && (
          <Button size="s" variant="danger" busy={endOthers.isPending} onClick={() => endOthers.mutate(undefined)}>
            End all other sessions
          </Button>
        )
      }
    >
      <FormProblem error={endOthers.error} />
      <Loaded query={sessions}>
        {({ sessions: list }) => (
          <ul className={listStyles.plain} aria-label="Sessions">
            {list.map((session) => (
              <SessionRow key={session.id} session={session} />
            ))}
          </ul>
        )}
      </Loaded>
    </Card>
  )
}

function SessionRow({ session }: { session: Session }): ReactElement {
  const end = useAccountChange(async () => {
    await post('/auth/sessions/end', { session_id: session.id })
    toast(`Session on ${session.device} has ended`)
  })
  const { device, address, is_current: isCurrent, created_at, last_used_at } = session
  return (
    <li className={classes(listStyles.entry, listStyles.inCard)}>
      <span className={ui.avatar}>
        <Icon name="globe" />
      </span>
      <div className={ui.grow}>
        <b>{device}</b> {isCurrent && <Badge tone="ok">this session</Badge>}
        <div className={classes(ui.soft, ui.small)}>
          {address ?? 'unknown address'}, last used {ago(last_used_at)}, signed in {dateTime(created_at)}
        </div>
      </div>
      {!isCurrent && (
        <Button
          size="s"
          variant="danger"
          label={`End session on ${device}`}
          busy={end.isPending}
          onClick={() => end.mutate(undefined, { onError: (error) => void toast(error.message, 'bad') })}
        >
          End session
        </Button>
      )}
    </li>
  )
}

const LANGUAGES = [
  { value: '', text: 'Default (English, Australia)' },
  { value: 'en-AU', text: 'English (Australia)' },
  { value: 'en-GB', text: 'English (United Kingdom)' },
  { value: 'en-US', text: 'English (United States)' },
  { value: 'de-DE', text: 'Deutsch' },
  { value: 'es-ES', text: 'Español' },
  { value: 'fr-FR', text: 'Français' },
  { value: 'it-IT', text: 'Italiano' },
  { value: 'ja-JP', text: '日本語' },
  { value: 'nl-NL', text: 'Nederlands' },
  { value: 'pt-BR', text: 'Português (Brasil)' },
  { value: 'sv-SE', text: 'Svenska' },
]

function Formats(): ReactElement {
  const me = useMe()
  const save = useAccountChange(async (chosen: { language?: string | null; units?: 'metric' | 'imperial' }) => {
    await post('/auth/settings', chosen)
    toast('Formats saved')
  })
  return (
    <Card title="Language and units">
      <div className={styles.form}>
        <Choice
          label="Numbers and dates"
          help="Texts stay in English."
          value={me.data?.language ?? ''}
          options={LANGUAGES}
          onChange={(event) => save.mutate({ language: event.target.value || null })}
        />
        <div>
          <Segmented
            label="Units of areas"
            value={me.data?.units ?? 'metric'}
            options={[
              { value: 'metric', text: 'Metric (km², ha)' },
              { value: 'imperial', text: 'Imperial (mi², acres)' },
            ]}
            onChange={(units) => save.mutate({ units })}
          />
        </div>
        <p className={classes(ui.soft, ui.small)}>Resolutions and prices stay in metres and km², as vendors state them.</p>
        <FormProblem error={save.error} />
      </div>
    </Card>
  )
}

function DeleteAccount(): ReactElement {
  const [isOpen, setOpen] = useState(false)
  return (
    <Card title="Delete account">
      <p>
        Your name, email address, sessions, API keys, second factors and memberships are deleted at once. What you created, such as items,
        orders and share links, belongs to your organizations and stays there.
      </p>
      <Button variant="danger" className={ui.marginTop12} onClick={() => setOpen(true)}>
        Delete account
      </Button>
      {isOpen && <DeleteDialog onClose={() => setOpen(false)} />}
    </Card>
  )
}

function DeleteDialog({ onClose }: { onClose(): void }): ReactElement {
  const me = useMe()
  const navigate = useNavigate()
  const [password, setPassword] = useState('')
  const form = useSending(async () => {
    await post('/auth/delete-account', { password })
    leave()
    queries.clear()
  })
  const owned = (me.data?.organizations ?? []).filter(({ role }) => role === 'owner')
  return (
    <Dialog title="Delete account" onClose={onClose}>
      <form className={classes(ui.flexColumn, ui.gap16)} onSubmit={form.send}>
        {owned.length > 0 && (
          <Note tone="warn" icon="users">
            <b>You own {plural(owned.length, 'organization')}.</b> If you are the only owner of {owned.map(({ name }) => name).join(', ')},
            make another member an owner first, or delete the organization.{' '}
            <button type="button" className={ui.asLink} onClick={() => void navigate({ to: '/team' })}>
              Open Team
            </button>
          </Note>
        )}
        <p>This cannot be undone.</p>
        <Field
          label="Current password"
          type="password"
          autoComplete="current-password"
          required
          data-autofocus
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
        <FormProblem error={form.error} />
        <Button type="submit" variant="danger" busy={form.busy}>
          Delete my account
        </Button>
      </form>
    </Dialog>
  )
}
