import type { ReactElement } from 'react'
import { useWho } from '../../state/who.ts'
import { SubNav } from '../../ui/kit.ts'

export function TeamNav(): ReactElement {
  const { isAdmin } = useWho()
  return (
    <SubNav
      label="Team"
      links={[
        { to: '/team', text: 'Members' },
        { to: '/team/projects', text: 'Projects and roles' },
        { to: '/team/licences', text: 'Licences' },
        ...(isAdmin ? [{ to: '/team/vendors' as const, text: 'Vendors' }] : []),
        ...(isAdmin ? [{ to: '/team/audit' as const, text: 'Audit log' }] : []),
        { to: '/team/organization', text: 'Organization' },
      ]}
    />
  )
}
