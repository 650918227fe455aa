/** Which organization to act for, or the first one of all. */
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState, type FormEvent, type ReactElement } from 'react'
import { call } from '../api/client.ts'
import { useMe } from '../api/query.ts'
import { chooseOrganization, signOut, useSession } from '../api/session.ts'
import { Button, Card, Field, type PlainPath } from '../ui/kit.ts'
import { Icon, Logo } from '../ui/icons.tsx'
import { FormProblem } from '../ui/states.tsx'
import { classes } from '../ui/classes.ts'
import styles from './choose-organization.module.css'
import listStyles from '../ui/list.module.css'
import ui from '../ui/ui.module.css'

export function ChooseOrganization(): ReactElement {
  const { user } = useSession()
  const me = useMe()
  const navigate = useNavigate()
  const client = useQueryClient()
  const [error, setError] = useState<unknown>(null)
  const enter = async (id: string, to: PlainPath) => {
    await chooseOrganization(id)
    await client.invalidateQueries()
    await navigate({ to })
  }
  const organizations = me.data?.organizations ?? []
  return (
    <main className={styles.choose}>
      <div className={classes(ui.flexRow, ui.gap12, styles.brand)}>
        <Logo />
        <b>Groundtrack</b>
      </div>
      {organizations.length > 0 && (
        <Card title="Choose an organization" flush>
          <ul>
            {organizations.map(({ id, name, role }) => (
              <li key={id} className={listStyles.entry}>
                <span className={ui.avatar}>
                  <Icon name="users" />
                </span>
                <div className={ui.grow}>
                  <b>{name}</b>
                  <div className={classes(ui.soft, ui.small)}>you are {role} there</div>
                </div>
                <Button variant="primary" onClick={() => void enter(id, '/explore').catch(setError)}>
                  Open
                </Button>
              </li>
            ))}
          </ul>
        </Card>
      )}
      <FormProblem error={error} />
      <NewOrganization onMade={(id) => enter(id, '/welcome')} isFirst={organizations.length === 0} />
      <p className={classes(ui.soft, ui.small, ui.flexRow, ui.gap6)}>
        Signed in as {user?.email}.
        <button type="button" className={ui.asLink} onClick={() => void signOut()}>
          Sign out
        </button>
      </p>
    </main>
  )
}

function NewOrganization({ onMade, isFirst }: { onMade(id: string): Promise<void>; isFirst: boolean }): ReactElement {
  const [name, setName] = useState('')
  const [country, setCountry] = useState('AU')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const send = (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    call('organizations.create', { name, country: country || null })
      .then(({ id }) => onMade(id))
      .catch((cause: unknown) => {
        setError(cause)
        setBusy(false)
      })
  }
  return (
    <Card title={isFirst ? 'Create your organization' : 'Create another organization'}>
      <form className={classes(ui.flexColumn, ui.gap12)} onSubmit={send}>
        <p className={ui.soft}>
          An organization holds your projects, imagery, members and credits. If you were invited, open the link in your invitation instead.
        </p>
        <Field label="Name" required maxLength={200} autoFocus={isFirst} value={name} onChange={(event) => setName(event.target.value)} />
        <Field
          label="Country code (two letters)"
          maxLength={2}
          value={country}
          onChange={(event) => setCountry(event.target.value.toUpperCase())}
          help="Used to decide whether GST applies."
        />
        <FormProblem error={error} />
        <Button type="submit" variant={isFirst ? 'primary' : 'plain'} busy={busy}>
          Create organization
        </Button>
      </form>
    </Card>
  )
}
