/** What concerns the person who is signed in. It comes by itself. */
import type { ReactElement } from 'react'
import { useLiveState } from '../../api/live.ts'
import { useAct, usePages } from '../../api/query.ts'
import { useTitle } from '../../state/crumbs.ts'
import { useUrl } from '../../state/url.ts'
import { Badge, Button, Card, LinkButton, Page, Segmented } from '../../ui/kit.ts'
import { Empty, FormProblem, Loaded, More } from '../../ui/states.tsx'
import { MonitorNav } from '../../parts/monitor-nav.tsx'
import { NewsList } from '../../parts/news-list.tsx'
import { MailChoice } from './mail-choice.tsx'
import styles from './inbox.module.css'
import ui from '../../ui/ui.module.css'

const PAGE = 50
const POLL_MS = 30_000

export function Inbox(): ReactElement {
  const [url, setUrl] = useUrl()
  const isUnread = url['show'] === 'unread'
  const list = usePages(
    'notifications.list',
    { unread_only: isUnread },
    { size: PAGE, key: 'id', rows: (page) => page, refetchInterval: POLL_MS },
  )
  const all = useAct('notifications.mark_all_read', ['notifications'])
  const live = useLiveState()
  useTitle({ text: 'Monitor', to: '/alerts' }, 'Inbox')
  const hasUnread = (list.query.data?.rows ?? []).some(({ read }) => !read)
  return (
    <Page
      title="Inbox"
      about="Alerts, decisions, approvals and failures."
      actions={
        <>
          {live === 'live' && (
            <Badge tone="ok">
              <span className={styles.liveDot} aria-hidden="true" /> live
            </Badge>
          )}
          <Button icon="check" disabled={!hasUnread} busy={all.isPending} onClick={() => all.mutate({})} title="Mark all read (Shift E)">
            Mark all read
          </Button>
        </>
      }
    >
      <MonitorNav />
      <Card
        className={ui.marginTop16}
        title={isUnread ? 'Unread' : 'Everything'}
        aside={
          <Segmented
            label="Which"
            value={isUnread ? 'unread' : 'all'}
            onChange={(next) => setUrl({ show: next === 'unread' ? 'unread' : null }, true)}
            options={[
              { value: 'all', text: 'All' },
              { value: 'unread', text: 'Unread' },
            ]}
          />
        }
        flush
      >
        <Loaded
          query={list.query}
          empty={({ rows }) =>
            rows.length === 0 && (
              <Empty icon="check" title="No notifications" actions={<LinkButton to="/alerts">See alerts</LinkButton>}>
                Alerts, decisions and approvals appear here automatically.
              </Empty>
            )
          }
        >
          {({ rows }) => (
            <>
              <NewsList news={rows} onAll={() => hasUnread && all.mutate({})} />
              <More pages={list} />
            </>
          )}
        </Loaded>
      </Card>
      <FormProblem error={all.error} />
      <MailChoice />
    </Page>
  )
}
