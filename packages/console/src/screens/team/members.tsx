/** Who may act for the organization, and how much each may spend. */
import { useState, type ReactElement } from 'react'
import { useAct, useOp } from '../../api/query.ts'
import { useTitle } from '../../state/crumbs.ts'
import { useWho } from '../../state/who.ts'
import { date, plural } from '../../ui/format.ts'
import { Badge, Button, Card, Page } from '../../ui/kit.ts'
import { Empty, Loaded } from '../../ui/states.tsx'
import { PendingApprovals } from '../../parts/billing/approvals.tsx'
import { Invite } from './invite.tsx'
import { MemberRow } from './member.tsx'
import { TeamNav } from './nav.tsx'
import { TwoFactorRule } from './two-factor-rule.tsx'
import { classes } from '../../ui/classes.ts'
import styles from './team.module.css'
import cardStyles from '../../ui/card.module.css'
import fieldStyles from '../../ui/field.module.css'
import tableStyles from '../../ui/table.module.css'
import ui from '../../ui/ui.module.css'

export function Team(): ReactElement {
  const who = useWho()
  const [invite, setInvite] = useState(false)
  useTitle({ text: who.organizationName }, 'Team')
  return (
    <Page
      title="Team"
      about={`Members of ${who.organizationName} and their spending caps, in credits.`}
      actions={
        who.isAdmin && (
          <Button variant="primary" icon="plus" onClick={() => setInvite(true)}>
            Invite
          </Button>
        )
      }
    >
      <TeamNav />
      <div className={classes(ui.flexColumn, ui.gap16, ui.marginTop16)}>
        {who.isAdmin ? (
          <>
            <PendingApprovals />
            <People />
            <TwoFactorRule />
          </>
        ) : (
          <Empty icon="lock" tone="warn" title="Only owners and admins can see members">
            You are {who.name}, a member of {who.organizationName}. An owner or admin can change your role and your caps.
          </Empty>
        )}
        <div className={classes(ui.grid, ui.threeColumns)}>
          <Card>
            <b>Owner and admin</b>
            <p className={classes(ui.soft, ui.small)}>Manage billing, members, caps, approvals and all projects.</p>
          </Card>
          <Card>
            <b>Member</b>
            <p className={classes(ui.soft, ui.small)}>
              Sees projects open to the organization, works in projects by role, and spends within caps.
            </p>
          </Card>
          <Card>
            <b>Project roles</b>
            <p className={classes(ui.soft, ui.small)}>Admin, editor or viewer, set per project. Guests can have one too.</p>
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
      <div className={classes(ui.flexRow, ui.between, cardStyles.header)}>
        <input
          className={classes(fieldStyles.input, styles.personSearch)}
          placeholder="Find a member"
          aria-label="Find a member"
          value={q}
          onChange={(event) => setQ(event.target.value)}
        />
        <span className={classes(ui.soft, ui.small)}>
          {plural(members.data?.count ?? 0, 'person', 'people')}, {plural(invitations.data?.total ?? 0, 'invitation')}
        </span>
      </div>
      <Loaded query={members}>
        {({ members: list }) => (
          <div className={ui.scrollSideways}>
            <table className={classes(tableStyles.table, tableStyles.asRows)}>
              <thead>
                <tr>
                  <th>Member</th>
                  <th>Role</th>
                  <th className={tableStyles.number}>Cap per order</th>
                  <th className={tableStyles.number}>Cap in 30 days</th>
                  <th>
                    <span className={ui.screenReaderOnly}>Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {list
                  .filter(({ name, email }) => fits(name + email))
                  .map((member) => (
                    <MemberRow key={member.user_id} member={member} />
                  ))}
                {invited.map((invitation) => (
                  <InvitedRow key={invitation.id} invitation={invitation} />
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
        <div className={classes(ui.flexRow, ui.gap12)}>
          <span className={ui.avatar}>?</span>
          <span>
            <b>{invitation.email}</b>
            <br />
            <span className={classes(ui.soft, ui.small)}>invited, ends {date(invitation.expires_at)}</span>
          </span>
        </div>
      </td>
      <td>
        <Badge tone="warn">invited</Badge>
      </td>
      <td className={classes(tableStyles.number, ui.soft, ui.hideOnPhone)}>–</td>
      <td className={classes(tableStyles.number, ui.soft, ui.hideOnPhone)}>–</td>
      <td className={tableStyles.number}>
        <Button size="s" variant="danger" onClick={() => revoke.mutate({ invitation_id: invitation.id })}>
          Withdraw
        </Button>
      </td>
    </tr>
  )
}
