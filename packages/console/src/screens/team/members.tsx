/** Who may act for the organization, and how much each may spend. */
import { useState, type ReactElement } from 'react'
import { useAct, useOp } from '../../api/query.ts'
import { useTitle } from '../../state/crumbs.ts'
import { useWho } from '../../state/who.ts'
import { date, plural } from '../../ui/format.ts'
import { Badge, Button, Card, Page } from '../../ui/kit.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { PendingApprovals } from '../../parts/billing/approvals.tsx'
import { Invite } from './invite.tsx'
import { MemberRow } from './member.tsx'
import { TeamNav } from './nav.tsx'

export function Team(): ReactElement {
  const who = useWho()
  const [invite, setInvite] = useState(false)
  useTitle({ text: who.organizationName }, 'Team')
  return (
    <Page
      title="Team"
      about={`Who may act for ${who.organizationName}, and how much each may spend. Caps are in credits and hold before a reservation.`}
      actions={
        who.isAdmin && (
          <Button look="primary" icon="plus" onClick={() => setInvite(true)}>
            Invite
          </Button>
        )
      }
    >
      <TeamNav />
      <div className="col g16 mt16">
        {who.isAdmin ? (
          <>
            <PendingApprovals />
            <People />
          </>
        ) : (
          <Empty icon="lock" tone="warn" title="The list of members is for owners and admins">
            You are {who.name}, a member of {who.organizationName}. An owner or admin can change your role and your caps.
          </Empty>
        )}
        <div className="grid three">
          <Card>
            <b>Owner and admin</b>
            <p className="soft sm">Billing, members, caps, approvals, every project.</p>
          </Card>
          <Card>
            <b>Member</b>
            <p className="soft sm">Sees open projects; works where a project role allows it; spends within caps.</p>
          </Card>
          <Card>
            <b>Project roles</b>
            <p className="soft sm">Admin, editor, viewer, set in each project. Guests from outside may have one too.</p>
          </Card>
        </div>
      </div>
      {invite && <Invite onClose={() => setInvite(false)} />}
    </Page>
  )
}

/** Who is in, and who is invited. */
function People(): ReactElement {
  const who = useWho()
  const members = useOp('organizations.members.list', { organizationId: who.organizationId })
  const invitations = useOp('organizations.invitations.list', {})
  const [q, setQ] = useState('')
  const fits = (text: string) => text.toLowerCase().includes(q.toLowerCase())
  const invited = (invitations.data?.invitations ?? []).filter(({ email }) => fits(email))
  return (
    <Card flush>
      <div className="row between hd">
        <input
          className="input person-search"
          placeholder="Find a person"
          aria-label="Find a person"
          value={q}
          onChange={(event) => setQ(event.target.value)}
        />
        <span className="soft sm">
          {plural(members.data?.count ?? 0, 'person', 'people')}, {plural(invitations.data?.total ?? 0, 'invitation')}
        </span>
      </div>
      <Loaded query={members}>
        {({ members: list }) => (
          <div className="scrollx">
            <table className="tbl asrows">
              <thead>
                <tr>
                  <th>Person</th>
                  <th>Role</th>
                  <th className="n">Cap per order</th>
                  <th className="n">Cap in 30 days</th>
                  <th>
                    <span className="sr">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {list
                  .filter(({ name, email }) => fits(name + email))
                  .map((member) => (
                    <MemberRow key={member.user_id} member={member} />
                  ))}
                {invited.map((one) => (
                  <InvitedRow key={one.id} invitation={one} />
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Loaded>
    </Card>
  )
}

function InvitedRow({ invitation }: { invitation: { id: string; email: string; expires_at: string } }): ReactElement {
  const revoke = useAct('organizations.invitations.revoke', ['organizations.invitations'])
  return (
    <tr>
      <td>
        <div className="row g12">
          <span className="avatar">?</span>
          <span>
            <b>{invitation.email}</b>
            <br />
            <span className="soft sm">invited, ends {date(invitation.expires_at)}</span>
          </span>
        </div>
      </td>
      <td>
        <Badge tone="warn">invited</Badge>
      </td>
      <td className="n soft hide-s">–</td>
      <td className="n soft hide-s">–</td>
      <td className="n">
        <Button size="s" look="danger" onClick={() => revoke.mutate({ invitation_id: invitation.id })}>
          Withdraw
        </Button>
      </td>
    </tr>
  )
}
