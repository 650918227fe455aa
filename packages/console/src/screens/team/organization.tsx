import type { ReactElement } from 'react'
import { useAct, useOp } from '../../api/query.ts'
import { useTitle } from '../../state/crumbs.ts'
import { useWho } from '../../state/who.ts'
import { date } from '../../ui/format.ts'
import { Card, Facts, Page, Toggle } from '../../ui/kit.ts'
import { FormProblem, Loaded } from '../../ui/states.tsx'
import { TeamNav } from './nav.tsx'
import { classes } from '../../ui/classes.ts'
import ui from '../../ui/ui.module.css'

export function OrganizationPage(): ReactElement {
  const organization = useOp('organizations.get', {})
  useTitle({ text: 'Team', to: '/team' }, 'Organization')
  return (
    <Page title="Organization">
      <TeamNav />
      <Card className={ui.marginTop16}>
        <Loaded query={organization}>
          {(organization) => (
            <Facts
              rows={[
                ['Name', organization.name],
                [
                  'Id',
                  <span key="id" className={classes(ui.mono, ui.breakAnywhere)}>
                    {organization.id}
                  </span>,
                ],
                ['Country', organization.country ?? '–'],
                ['Plan', organization.plan],
                ['Pays', organization.billing_mode],
                ['ABN', organization.abn ?? '–'],
                ['Billing email', organization.billing_email ?? '–'],
                ['Since', date(organization.created_at)],
              ]}
            />
          )}
        </Loaded>
      </Card>
      {organization.data && <PublicLinks isAllowed={organization.data.allows_public_links} />}
    </Page>
  )
}

/** Turning it off ends existing public links, too. */
function PublicLinks({ isAllowed }: { isAllowed: boolean }): ReactElement {
  const { isAdmin } = useWho()
  const change = useAct('organizations.set_public_links', ['organizations'])
  return (
    <Card className={ui.marginTop16}>
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
