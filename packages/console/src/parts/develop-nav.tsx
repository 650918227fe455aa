import type { ReactElement } from 'react'
import { useWho } from '../state/who.ts'
import { SubNav } from '../ui/kit.ts'

export function DevelopNav(): ReactElement {
  const { isAdmin } = useWho()
  return (
    <SubNav
      label="Develop"
      links={[
        { to: '/develop/keys', text: 'API keys' },
        { to: '/develop/webhooks', text: 'Webhooks', deep: true },
        ...(isAdmin ? [{ to: '/develop/requests' as const, text: 'Requests' }] : []),
      ]}
    />
  )
}
