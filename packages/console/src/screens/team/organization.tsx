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
          {(one) => (
            <Facts
              rows={[
                ['Name', one.name],
                [
                  'Id',
                  <span key="id" className={classes(ui.mono, ui.breakAnywhere)}>
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
