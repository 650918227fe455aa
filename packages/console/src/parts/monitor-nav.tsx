import type { ReactElement } from 'react'
import { useOp } from '../api/query.ts'
import { SubNav } from '../ui/kit.ts'

export function MonitorNav(): ReactElement {
  const unread = useOp('notifications.unread_count', {})
  return (
    <SubNav
      label="Monitor"
      links={[
        { to: '/alerts', text: 'Alerts' },
        { to: '/inbox', text: unread.data?.count ? `Inbox, ${unread.data.count} unread` : 'Inbox' },
      ]}
    />
  )
}
