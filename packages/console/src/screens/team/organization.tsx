/** The organization: what it is called, who is billed, and how its members sign in. */
import { Link } from '@tanstack/react-router'
import { useState, type FormEvent, type ReactElement } from 'react'
import type { Organization } from '../../api/contract.ts'
import { useAct, useOp } from '../../api/query.ts'
import { useTitle } from '../../state/crumbs.ts'
import { useProjects, useWho } from '../../state/who.ts'
import { classes } from '../../ui/classes.ts'
import { date } from '../../ui/format.ts'
import { Button, Card, Choice, Facts, Field, Page, Toggle } from '../../ui/kit.ts'
import { FormProblem, Loaded } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { Domains } from './domains.tsx'
import { TeamNav } from './nav.tsx'
import { SingleSignOn } from './sso.tsx'

export function OrganizationPage(): ReactElement {
  const { isAdmin } = useWho()
  const organization = useOp('organizations.get', {})
  useTitle({ text: 'Team', to: '/team' }, 'Organization')
  return (
    <Page title="Organization">
      <TeamNav />
      <div className={classes(ui.flexColumn, ui.gap16, ui.marginTop16)}>
        <Loaded query={organization}>
          {(organization) => (
            <>
              {isAdmin && <Profile key={organization.id} organization={organization} />}
              <About organization={organization} isShort={isAdmin} />
            </>
          )}
        </Loaded>
        {isAdmin && <SingleSignOn />}
        {isAdmin && <Domains />}
        {organization.data && <PublicLinks isAllowed={organization.data.allows_public_links} />}
      </div>
    </Page>
  )
}

function About({ organization, isShort }: { organization: Organization; isShort: boolean }): ReactElement {
  const project = useProjects().data?.projects.find(({ id }) => id === organization.default_project_id)
  return (
    <Card title={isShort ? 'Plan' : 'About'}>
      <Facts
        rows={[
          ...(isShort
            ? []
            : [
                ['Name', organization.name] as const,
                ['ABN', organization.abn ?? '–'] as const,
                ['Billing email', organization.billing_email ?? '–'] as const,
                ['Default project', project?.name ?? '–'] as const,
              ]),
          [
            'Plan',
            <span key="plan" className={classes(ui.flexRow, ui.gap12)}>
              {organization.plan}
              {isShort && <Link to="/billing/plan">Change plan</Link>}
            </span>,
          ],
          ['Payment', { credit: 'Credits', card: 'Card', enterprise: 'On account' }[organization.billing_mode]],
          ['Country', organization.country ?? '–'],
          [
            'ID',
            <span key="id" className={classes(ui.mono, ui.breakAnywhere)}>
              {organization.id}
            </span>,
          ],
          ['Since', date(organization.created_at)],
        ]}
      />
    </Card>
  )
}

/** As people write it: `51 824 753 556`. */
const spaced = (abn: string) => abn.replace(/^(\d{2})(\d{3})(\d{3})(\d{3})$/, '$1 $2 $3 $4')

function Profile({ organization }: { organization: Organization }): ReactElement {
  const [name, setName] = useState(organization.name)
  const [abn, setAbn] = useState(spaced(organization.abn ?? ''))
  const [billingEmail, setBillingEmail] = useState(organization.billing_email ?? '')
  const [projectId, setProjectId] = useState(organization.default_project_id ?? '')
  const projects = useProjects().data?.projects ?? []
  const update = useAct('organizations.update', ['organizations', 'me'])
  const wrong = (field: string) => (update.error && 'errors' in update.error ? fieldOf(update.error.errors, field) : undefined)
  const send = (event: FormEvent) => {
    event.preventDefault()
    update.mutate(
      { name, abn: abn.trim() || null, billing_email: billingEmail.trim() || null, default_project_id: projectId || null },
      {
        onSuccess: (saved) => {
          setAbn(spaced(saved.abn ?? ''))
          toast('Organization saved')
        },
      },
    )
  }
  return (
    <Card title="Profile">
      <form className={classes(ui.flexColumn, ui.gap12)} onSubmit={send}>
        <Field label="Name" required maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />
        <Field
          label="ABN"
          inputMode="numeric"
          maxLength={20}
          value={abn}
          onChange={(event) => setAbn(event.target.value)}
          help="Australian Business Number, 11 digits. Printed on invoices."
          error={wrong('abn')}
        />
        <Field
          label="Billing email"
          type="email"
          maxLength={254}
          value={billingEmail}
          onChange={(event) => setBillingEmail(event.target.value)}
          help="Invoices are sent here."
          error={wrong('billing_email')}
        />
        <Choice
          label="Default project"
          value={projectId}
          onChange={(event) => setProjectId(event.target.value)}
          options={[
            { value: '', text: 'None' },
            ...projects.filter(({ is_archived }) => !is_archived).map(({ id, name }) => ({ value: id, text: name })),
          ]}
          help="The project suggested for new work."
        />
        {!wrong('abn') && !wrong('billing_email') && <FormProblem error={update.error} />}
        <div>
          <Button type="submit" variant="primary" busy={update.isPending}>
            Save
          </Button>
        </div>
      </form>
    </Card>
  )
}

function fieldOf(errors: unknown, field: string): string | undefined {
  return Array.isArray(errors)
    ? (errors as { field: string; message: string }[]).find((entry) => entry.field === field)?.message
    : undefined
}

/** Turning it off ends existing public links, too. */
function PublicLinks({ isAllowed }: { isAllowed: boolean }): ReactElement {
  const { isAdmin } = useWho()
  const change = useAct('organizations.set_public_links', ['organizations'])
  return (
    <Card>
      <div className={classes(ui.flexRow, ui.between, ui.gap16)}>
        <div>
          <b>Public links</b>
          <p className={classes(ui.soft, ui.small)}>
            Editors can share items and collections without a password: anyone with the link can see them. When this is off, existing public
            links do not work.
          </p>
        </div>
        <Toggle
          on={isAllowed}
          onChange={(allowed) => change.mutate({ allowed })}
          label="Public links"
          disabled={!isAdmin || change.isPending}
        />
      </div>
      <FormProblem error={change.error} />
    </Card>
  )
}
