import { useState, type ReactElement } from 'react'
import { useAct } from '../../api/query.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { date } from '../../ui/format.ts'
import { Button, Choice, CopyButton, Field, Note } from '../../ui/kit.ts'
import { FormProblem } from '../../ui/states.tsx'
import { classes } from '../../ui/classes.ts'
import secretStyles from '../../ui/secret.module.css'
import ui from '../../ui/ui.module.css'

export function Invite({ onClose }: { onClose(): void }): ReactElement {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<'member' | 'admin'>('member')
  const invite = useAct('organizations.members.invite', ['organizations'])
  const url = invite.data?.invitation.url.replace('/invite/', '/app/invite/')
  return (
    <Dialog title="Invite a member" onClose={onClose}>
      <form
        className={classes(ui.flexColumn, ui.gap12)}
        onSubmit={(event) => {
          event.preventDefault()
          invite.mutate({ email, role })
        }}
      >
        <Field label="Email" type="email" required data-autofocus value={email} onChange={(event) => setEmail(event.target.value)} />
        <Choice
          label="Role"
          value={role}
          onChange={(event) => setRole(event.target.value as 'member')}
          options={[
            { value: 'member', text: 'member' },
            { value: 'admin', text: 'admin' },
          ]}
        />
        <FormProblem error={invite.error} />
        {url ? (
          <Note tone="ok" icon="check">
            <b>Send them this link.</b> It works once, until {date(invite.data?.invitation.expires_at)}.
            <div className={classes(secretStyles.secret, ui.marginTop8)}>
              <output className={classes(ui.mono, ui.grow, ui.ellipsis)} aria-label="Invitation link">
                {url}
              </output>
              <CopyButton text={url} variant="primary" />
            </div>
          </Note>
        ) : (
          <Button type="submit" variant="primary" busy={invite.isPending}>
            Send invitation
          </Button>
        )}
      </form>
    </Dialog>
  )
}
