import type { ReactElement } from 'react'
import { useOp } from '../../api/query.ts'
import { useTitle } from '../../state/crumbs.ts'
import { date } from '../../ui/format.ts'
import { Card, Facts, Page } from '../../ui/kit.tsx'
import { Loaded } from '../../ui/states.tsx'
import { TeamNav } from './nav.tsx'

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
