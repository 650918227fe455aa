/** Who may act for the organization, how much each may spend, what was done. */
import { Link } from '@tanstack/react-router'
import { useState, type ReactElement } from 'react'
import type { AuditEntry, OrganizationMember, ProjectMember } from '../api/contract.ts'
import { useAct, useOp } from '../api/query.ts'
import { useTitle } from '../shell/crumbs.tsx'
import { useUrl } from '../shell/url.ts'
import { mayManage, useProjects, useWho } from '../shell/who.ts'
import { Dialog } from '../ui/dialog.tsx'
import { count, date, dateTime, initials, localTime, plural } from '../ui/format.ts'
import { Badge, Button, Card, Choice, CopyButton, Facts, Field, Note, Page, SubNav, copyText } from '../ui/kit.tsx'
import { Empty, FormProblem, Loaded } from '../ui/states.tsx'
import { toast } from '../ui/toasts.tsx'
import { PendingApprovals } from './billing/approvals.tsx'
import { DevelopNav } from './keys.tsx'

function TeamNav(): ReactElement {
  const { isAdmin } = useWho()
  return (
    <SubNav
      label="Team"
      links={[
        { to: '/team', text: 'Members' },
        { to: '/team/projects', text: 'Projects and roles' },
        { to: '/team/licences', text: 'Licences' },
        ...(isAdmin ? [{ to: '/team/audit', text: 'Audit log' }] : []),
        { to: '/team/organization', text: 'Organization' },
      ]}
    />
  )
}

export function Team(): ReactElement {
  const who = useWho()
  const members = useOp('organizations.members.list', { organizationId: who.organizationId }, { enabled: who.isAdmin })
  const invitations = useOp('organizations.invitations.list', {}, { enabled: who.isAdmin })
  const revoke = useAct('organizations.invitations.revoke', ['organizations.invitations'])
  const [invite, setInvite] = useState(false)
  const [q, setQ] = useState('')
  useTitle({ text: who.organizationName }, 'Team')
  const fits = (text: string) => text.toLowerCase().includes(q.toLowerCase())
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
        {!who.isAdmin && (
          <Empty icon="lock" tone="warn" title="The list of members is for owners and admins">
            You are {who.name}, a member of {who.organizationName}. An owner or admin can change your role and your caps.
          </Empty>
        )}
        {who.isAdmin && <PendingApprovals />}
        {who.isAdmin && (
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
                  <table className="tbl">
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
                      {(invitations.data?.invitations ?? [])
                        .filter(({ email }) => fits(email))
                        .map((one) => (
                          <tr key={one.id}>
                            <td>
                              <div className="row g12">
                                <span className="avatar">?</span>
                                <span>
                                  <b>{one.email}</b>
                                  <br />
                                  <span className="soft sm">invited, ends {date(one.expires_at)}</span>
                                </span>
                              </div>
                            </td>
                            <td>
                              <Badge tone="warn">invited</Badge>
                            </td>
                            <td className="n soft">–</td>
                            <td className="n soft">–</td>
                            <td className="n">
                              <Button size="s" look="danger" onClick={() => revoke.mutate({ invitation_id: one.id })}>
                                Withdraw
                              </Button>
                            </td>
                          </tr>
                        ))}
                    </tbody>
                  </table>
                </div>
              )}
            </Loaded>
          </Card>
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

function MemberRow({ member }: { member: OrganizationMember }): ReactElement {
  const who = useWho()
  const limit = useAct('organizations.members.set_spend_limit', ['organizations.members'])
  const role = useAct('organizations.members.set_role', ['organizations.members', '/auth/me'])
  const remove = useAct('organizations.members.remove', ['organizations.members'])
  const setLimit = (patch: Partial<Pick<OrganizationMember, 'per_order_limit_credits' | 'spend_limit_credits'>>) => {
    const next = { ...member, ...patch }
    limit.mutate(
      {
        organizationId: who.organizationId,
        userId: member.user_id,
        perOrderLimitCredits: next.per_order_limit_credits,
        spendLimitCredits: next.spend_limit_credits,
      },
      { onError: (error) => void toast(error.message, 'bad'), onSuccess: () => void toast(`Caps of ${member.name} are set`) },
    )
  }
  const isSelf = member.user_id === who.userId
  return (
    <tr>
      <td>
        <div className="row g12">
          <span className="avatar">{initials(member.name)}</span>
          <span>
            <b>{member.name}</b>
            <br />
            <span className="soft sm">{member.email}</span>
          </span>
        </div>
      </td>
      <td>
        {isSelf || (member.role === 'owner' && who.role !== 'owner') ? (
          <Badge tone="acc">{member.role}</Badge>
        ) : (
          <Choice
            label={`Role of ${member.name}`}
            hideLabel
            value={member.role}
            onChange={(event) =>
              role.mutate(
                { user_id: member.user_id, role: event.target.value as 'admin' },
                { onError: (error) => void toast(error.message, 'bad') },
              )
            }
            options={[...(who.role === 'owner' ? ['owner'] : []), 'admin', 'member'].map((one) => ({ value: one, text: one }))}
          />
        )}
      </td>
      <td className="n">
        <CapCell
          label={`Cap per order of ${member.name}`}
          cap={member.per_order_limit_credits}
          onSet={(cap) => setLimit({ per_order_limit_credits: cap })}
        />
      </td>
      <td className="n">
        <CapCell
          label={`Cap in 30 days of ${member.name}`}
          cap={member.spend_limit_credits}
          onSet={(cap) => setLimit({ spend_limit_credits: cap })}
        />
      </td>
      <td className="n">
        {!isSelf && member.role !== 'owner' && (
          <Button
            size="s"
            look="danger"
            busy={remove.isPending}
            onClick={() => remove.mutate({ user_id: member.user_id }, { onError: (error) => void toast(error.message, 'bad') })}
          >
            Remove
          </Button>
        )}
      </td>
    </tr>
  )
}

const capText = (cap: number | null) => (cap === null ? 'none' : cap === 0 ? '0, may not spend' : count(cap))

/** Empty is no cap, 0 may not spend; Enter keeps, Esc undoes. */
function CapCell({ label, cap, onSet }: { label: string; cap: number | null; onSet(cap: number | null): void }): ReactElement {
  const [text, setText] = useState<string | null>(null)
  const keep = () => {
    if (text === null) return
    const next = text.trim() === '' ? null : Math.max(0, Math.round(Number(text.replaceAll(',', ''))))
    setText(null)
    if (next !== cap && (next === null || Number.isFinite(next))) onSet(next)
  }
  if (text === null)
    return (
      <button
        type="button"
        className="as-text edit num"
        aria-label={`${label}: ${capText(cap)}. Change`}
        onClick={() => setText(cap === null ? '' : String(cap))}
      >
        {capText(cap)}
      </button>
    )
  return (
    <input
      className="input s number-box"
      aria-label={label}
      autoFocus
      inputMode="numeric"
      placeholder="none"
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={keep}
      onKeyDown={(event) => {
        if (event.key === 'Enter') keep()
        if (event.key === 'Escape') setText(null)
      }}
    />
  )
}

function Invite({ onClose }: { onClose(): void }): ReactElement {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<'member' | 'admin'>('member')
  const invite = useAct('organizations.members.invite', ['organizations'])
  const url = invite.data?.invitation.url.replace('/invite/', '/app/invite/')
  return (
    <Dialog title="Invite somebody" onClose={onClose}>
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
            Make the invitation
          </Button>
        )}
      </form>
    </Dialog>
  )
}

export function Projects(): ReactElement {
  const who = useWho()
  const [url, setUrl] = useUrl()
  const projects = useProjects()
  useTitle({ text: 'Team', to: '/team' }, 'Projects and roles')
  const list = projects.data?.projects ?? []
  const current = list.find(({ id }) => id === url['project']) ?? list[0]
  return (
    <Page title="Projects and roles" about="What somebody may do with imagery is set in each project.">
      <TeamNav />
      <div className="col g16 mt16">
        <Loaded query={projects} empty={({ projects: all }) => all.length === 0 && <Empty icon="folder" title="No project yet" />}>
          {() => (
            <>
              <Choice
                label="Project"
                value={current?.id ?? ''}
                onChange={(event) => setUrl({ project: event.target.value })}
                options={list.map(({ id, name }) => ({ value: id, text: name }))}
              />
              {current && <ProjectMembers key={current.id} projectId={current.id} mayChange={mayManage(who, current)} />}
            </>
          )}
        </Loaded>
      </div>
    </Page>
  )
}

const ROLES = ['admin', 'editor', 'viewer'].map((role) => ({ value: role, text: role }))

function ProjectMembers({ projectId, mayChange }: { projectId: string; mayChange: boolean }): ReactElement {
  const project = useOp('projects.get', { project_id: projectId })
  const add = useAct('projects.add_member', ['projects', 'organizations'])
  const [email, setEmail] = useState('')
  const [role, setRole] = useState('editor')
  return (
    <Card title="People" flush>
      <Loaded query={project}>
        {({ members }) => (
          <div className="scrollx">
            <table className="tbl">
              <thead>
                <tr>
                  <th>Person</th>
                  <th>Role here</th>
                  <th>
                    <span className="sr">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {members.map((member) => (
                  <ProjectMemberRow key={member.email} member={member} mayChange={mayChange} />
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Loaded>
      {mayChange && (
        <form
          className="bd row g12 wrap"
          onSubmit={(event) => {
            event.preventDefault()
            add.mutate({ project_id: projectId, email, role: role as 'editor' }, { onSuccess: () => setEmail('') })
          }}
        >
          <Field label="Add by email" type="email" required value={email} onChange={(event) => setEmail(event.target.value)} />
          <Choice label="Role" value={role} onChange={(event) => setRole(event.target.value)} options={ROLES} />
          <Button type="submit" busy={add.isPending}>
            Add
          </Button>
          {add.data?.invitation && (
            <Button icon="copy" onClick={() => void copyText(add.data.invitation!.url.replace('/invite/', '/app/invite/'))}>
              Copy the invitation of {add.data.email}
            </Button>
          )}
          <FormProblem error={add.error} />
        </form>
      )}
    </Card>
  )
}

function ProjectMemberRow({ member, mayChange }: { member: ProjectMember; mayChange: boolean }): ReactElement {
  const update = useAct('projects.update_member', ['projects'])
  const remove = useAct('projects.remove_member', ['projects'])
  return (
    <tr>
      <td>
        <b>{member.name ?? member.email}</b> {member.status === 'invited' && <Badge tone="warn">invited</Badge>}
        <br />
        <span className="soft sm">{member.email}</span>
      </td>
      <td>
        {mayChange && member.user_id ? (
          <Choice
            label={`Role of ${member.email}`}
            hideLabel
            value={member.role}
            options={ROLES}
            onChange={(event) =>
              update.mutate(
                { project_id: member.project_id, user_id: member.user_id!, role: event.target.value as 'editor' },
                { onError: (error) => void toast(error.message, 'bad') },
              )
            }
          />
        ) : (
          <Badge>{member.role}</Badge>
        )}
      </td>
      <td className="n">
        {mayChange && (
          <Button
            size="s"
            look="danger"
            onClick={() =>
              remove.mutate(
                { project_id: member.project_id, ...(member.user_id ? { user_id: member.user_id } : { email: member.email }) },
                { onError: (error) => void toast(error.message, 'bad') },
              )
            }
          >
            Remove
          </Button>
        )}
      </td>
    </tr>
  )
}

export function Licences(): ReactElement {
  const licences = useOp('eulas.list', { size: 50 })
  const [open, setOpen] = useState<{ eula: string; document: string } | null>(null)
  useTitle({ text: 'Team', to: '/team' }, 'Licences')
  return (
    <Page
      title="Licences"
      about="What vendors ask to be accepted before their scenes can be ordered. One person accepts for the organization."
    >
      <TeamNav />
      <Card className="mt16" flush>
        <Loaded query={licences} empty={({ content }) => content.length === 0 && <Empty icon="lock" title="No vendor asks for one" />}>
          {({ content }) => (
            <ul>
              {content.map((one) => (
                <li key={one.id} className="uf">
                  <span className="grow">
                    <b>{one.name}</b>
                    <br />
                    <span className="soft sm">{one.data_products.map(({ title }) => title).join(', ')}</span>
                  </span>
                  {one.accepted ? <Badge tone="ok">accepted {date(one.accepted_at)}</Badge> : <Badge tone="warn">not accepted</Badge>}
                  <Button size="s" onClick={() => setOpen({ eula: one.id, document: one.current_document_id })}>
                    Read
                  </Button>
                </li>
              ))}
            </ul>
          )}
        </Loaded>
      </Card>
      {open && <LicenceDialog eulaId={open.eula} documentId={open.document} onClose={() => setOpen(null)} />}
    </Page>
  )
}

export function LicenceDialog({ eulaId, documentId, onClose }: { eulaId: string; documentId: string; onClose(): void }): ReactElement {
  const document = useOp('eulas.document.get', { eula_id: eulaId, document_id: documentId })
  const accept = useAct('eulas.document.accept', ['eulas'])
  return (
    <Dialog title="Licence" onClose={onClose} size={620}>
      <Loaded query={document}>
        {(licence) => (
          <div className="col g12">
            <p className="soft">
              Version {licence.version}, valid from {date(licence.valid_from)}
            </p>
            <div className="licence-text" tabIndex={0}>
              {licence.text}
            </div>
            <FormProblem error={accept.error} />
            {licence.accepted ? (
              <Badge tone="ok">accepted {date(licence.accepted_at)}</Badge>
            ) : (
              <Button
                look="primary"
                busy={accept.isPending}
                onClick={() => accept.mutate({ eula_id: eulaId, document_id: documentId, is_accepted: true }, { onSuccess: onClose })}
              >
                Accept for the organization
              </Button>
            )}
          </div>
        )}
      </Loaded>
    </Dialog>
  )
}

export function Audit(): ReactElement {
  useTitle({ text: 'Team', to: '/team' }, 'Audit log')
  return (
    <Page wide title="Audit log" about="Every call that was made for this organization.">
      <TeamNav />
      <AuditTable />
    </Page>
  )
}

export function Requests(): ReactElement {
  useTitle('Develop', 'Requests')
  return (
    <Page wide title="Develop" about="Keys, webhooks and the record of what was called.">
      <DevelopNav />
      <AuditTable />
    </Page>
  )
}

const AUDIT_PAGE = 50

function AuditTable(): ReactElement {
  const [url, setUrl] = useUrl()
  const [limit, setLimit] = useState(AUDIT_PAGE)
  const [open, setOpen] = useState<AuditEntry | null>(null)
  const entries = useOp(
    'organizations.audit.list',
    { operation: url['operation'] || null, from: url['from'] ? new Date(url['from']).toISOString() : null, limit },
    { keep: true },
  )
  return (
    <div className="col g16 mt16">
      <div className="row g12 wrap">
        <Field
          label="Operation"
          placeholder="items.create"
          defaultValue={url['operation'] ?? ''}
          onBlur={(event) => setUrl({ operation: event.target.value || null })}
          onKeyDown={(event) => event.key === 'Enter' && setUrl({ operation: event.currentTarget.value || null })}
        />
        <Field label="Since" type="date" value={url['from'] ?? ''} onChange={(event) => setUrl({ from: event.target.value || null })} />
      </div>
      <Card flush>
        <Loaded query={entries} rows={8} empty={({ entries: list }) => list.length === 0 && <Empty title="No call matches" />}>
          {({ entries: list }) => (
            <div className="scrollx">
              <table className="tbl">
                <thead>
                  <tr>
                    <th>When, UTC</th>
                    <th>Operation</th>
                    <th>By</th>
                    <th>Answer</th>
                    <th className="n">Took</th>
                    <th>Invocation</th>
                  </tr>
                </thead>
                <tbody>
                  {list.map((entry) => (
                    <tr key={entry.invocation_id}>
                      <td title={localTime(entry.at)}>{dateTime(entry.at)}</td>
                      <td className="mono">{entry.operation}</td>
                      <td>{entry.api_key_id ? 'key' : entry.principal_kind}</td>
                      <td>
                        <Badge tone={entry.status < 400 ? 'ok' : 'bad'}>{entry.status}</Badge>
                      </td>
                      <td className="n">{entry.duration_ms} ms</td>
                      <td>
                        <button type="button" className="as-link mono" onClick={() => setOpen(entry)}>
                          {entry.invocation_id.slice(0, 13)}…
                        </button>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )}
        </Loaded>
      </Card>
      {entries.data && entries.data.entries.length >= limit && (
        <div className="row center">
          <Button onClick={() => setLimit(limit + AUDIT_PAGE)}>Load more</Button>
        </div>
      )}
      {open && (
        <Dialog title={open.operation} onClose={() => setOpen(null)}>
          <Facts
            rows={[
              [
                'Invocation',
                <span key="i" className="mono wrap-any">
                  {open.invocation_id}
                </span>,
              ],
              ['When', dateTime(open.at)],
              ['By', <span key="b" className="mono wrap-any">{`${open.principal_kind} ${open.principal_id}`}</span>],
              ['Answer', open.status],
              [
                'Input digest',
                <span key="d" className="mono wrap-any">
                  {open.input_sha256 ?? '–'}
                </span>,
              ],
              [
                'Made',
                <span key="m" className="mono wrap-any">
                  {open.artifacts.length === 0 && 'nothing'}
                  {open.artifacts.map((artifact) => (
                    <Artifact key={artifact} artifact={artifact} />
                  ))}
                </span>,
              ],
            ]}
          />
        </Dialog>
      )}
    </div>
  )
}

/** What a call made, with the way to where it came from. */
function Artifact({ artifact }: { artifact: string }): ReactElement {
  const [type = '', id = ''] = artifact.split(' ')
  return (
    <Link className="block" to="/lineage/$type/$id" params={{ type, id } as never}>
      {artifact}
    </Link>
  )
}

export function OrganizationPage(): ReactElement {
  const organization = useOp('organizations.get', {})
  useTitle({ text: 'Team', to: '/team' }, 'Organization')
  return (
    <Page title="Organization">
      <TeamNav />
      <Card className="mt16">
        <Loaded query={organization}>
          {(one) => (
            <Facts
              rows={[
                ['Name', one.name],
                [
                  'Id',
                  <span key="id" className="mono wrap-any">
                    {one.id}
                  </span>,
                ],
                ['Country', one.country ?? '–'],
                ['Plan', one.plan],
                ['Pays', one.billing_mode],
                ['ABN', one.abn ?? '–'],
                ['Billing email', one.billing_email ?? '–'],
                ['Since', date(one.created_at)],
              ]}
            />
          )}
        </Loaded>
      </Card>
    </Page>
  )
}
