/** Access to imagery is set per project. */
import { useState, type ReactElement } from 'react'
import type { ProjectMember } from '../../api/contract.ts'
import { useAct, useOp } from '../../api/query.ts'
import { useTitle } from '../../state/crumbs.ts'
import { useUrl } from '../../state/url.ts'
import { mayManage, useProjects, useWho } from '../../state/who.ts'
import { Badge, Button, Card, Choice, Field, Page, copyText } from '../../ui/kit.ts'
import { Empty, FormProblem, Loaded } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { TeamNav } from './nav.tsx'
import { classes } from '../../ui/classes.ts'
import cardStyles from '../../ui/card.module.css'
import tableStyles from '../../ui/table.module.css'
import ui from '../../ui/ui.module.css'

export function Projects(): ReactElement {
  const who = useWho()
  const [url, setUrl] = useUrl()
  const projects = useProjects()
  useTitle({ text: 'Team', to: '/team' }, 'Projects and roles')
  const list = projects.data?.projects ?? []
  const current = list.find(({ id }) => id === url['project']) ?? list[0]
  return (
    <Page title="Projects and roles" about="Access to imagery is set per project.">
      <TeamNav />
      <div className={classes(ui.flexColumn, ui.gap16, ui.marginTop16)}>
        <Loaded query={projects} empty={({ projects: all }) => all.length === 0 && <Empty icon="folder" title="No projects yet" />}>
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
    <Card title="Members" flush>
      <Loaded query={project}>
        {({ members }) => (
          <div className={ui.scrollSideways}>
            <table className={classes(tableStyles.table, tableStyles.asRows)}>
              <thead>
                <tr>
                  <th>Member</th>
                  <th>Project role</th>
                  <th>
                    <span className={ui.screenReaderOnly}>Actions</span>
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
          className={classes(cardStyles.body, ui.flexRow, ui.gap12, ui.wrap)}
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
        <span className={classes(ui.soft, ui.small)}>{member.email}</span>
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
      <td className={tableStyles.number}>
        {mayChange && (
          <Button
            size="s"
            variant="danger"
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
