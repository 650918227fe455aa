import type { ReactElement } from 'react'
import { useOp } from '../../api/query.ts'
import { useTitle } from '../../state/crumbs.ts'
import { date } from '../../ui/format.ts'
import { Card, Facts, Page } from '../../ui/kit.ts'
import { Loaded } from '../../ui/states.tsx'
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
    </Page>
  )
}
