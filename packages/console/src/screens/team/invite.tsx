import { useState, type ReactElement } from 'react'
import { useAct } from '../../api/query.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { date } from '../../ui/format.ts'
import { Button, Choice, CopyButton, Field, Note } from '../../ui/kit.tsx'
import { FormProblem } from '../../ui/states.tsx'

export function Invite({ onClose }: { onClose(): void }): ReactElement {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<'member' | 'admin'>('member')
  const invite = useAct('organizations.members.invite', ['organizations'])
  const url = invite.data?.invitation.url.replace('/invite/', '/app/invite/')
  return (
    <Dialog title="Invite a member" onClose={onClose}>
      <form
        className="col g12"
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
            <div className="secret mt8">
              <output className="mono grow cut" aria-label="Invitation link">
                {url}
              </output>
              <CopyButton text={url} look="primary" />
            </div>
          </Note>
        ) : (
          <Button type="submit" look="primary" busy={invite.isPending}>
            Send invitation
          </Button>
        )}
      </form>
    </Dialog>
  )
}
