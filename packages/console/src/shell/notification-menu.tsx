/** The bell: how much is unread, the newest of it, and a word when an alert fires. */
import { useNavigate } from '@tanstack/react-router'
import { useEffect, type ReactElement } from 'react'
import { onEvent, useLive } from '../api/live.ts'
import { useAct, useOp } from '../api/query.ts'
import { value } from '../ui/format.ts'
import { Icon } from '../ui/icons.tsx'
import { Button, LinkButton } from '../ui/kit.ts'
import { loadLater } from '../ui/load-later.tsx'
import { Popover } from '../ui/popover.tsx'
import { Empty, Loaded, Skeleton } from '../ui/states.tsx'
import { toast } from '../ui/toasts.tsx'
import { useWho } from '../state/who.ts'
import { classes } from '../ui/classes.ts'
import styles from './notification-menu.module.css'
import buttonStyles from '../ui/button.module.css'
import ui from '../ui/ui.module.css'

const NewsList = loadLater(async () => (await import('../parts/news-list.tsx')).NewsList, <Skeleton rows={2} />)

const POLL_MS = 30_000
const SHOWN = 6
const MOST = 99

export function NotificationMenu(): ReactElement {
  const { organizationId } = useWho()
  useLive(organizationId)
  const unread = useOp('notifications.unread_count', {}, { refetchInterval: POLL_MS })
  const navigate = useNavigate()
  useEffect(
    () =>
      onEvent((event) => {
        if (event.event_type !== 'alert.triggered') return
        const { rule_id, rule_name, computed_value } = event.data
        toast(`${rule_name}: ${value(computed_value)}`, 'bad', {
          text: 'Open',
          run: () => void navigate({ to: '/alerts/$id', params: { id: rule_id } }),
        })
      }),
    [navigate],
  )
  const count = unread.data?.count ?? 0
  return (
    <Popover
      label="Inbox"
      align="end"
      className={styles.panel}
      button={(trigger) => (
        <button
          {...trigger}
          type="button"
          className={classes(buttonStyles.button, buttonStyles.quiet, buttonStyles.iconOnly, styles.button)}
          aria-label={count > 0 ? `Inbox, ${count} unread` : 'Inbox'}
        >
          <Icon name="bell" />
          {count > 0 && (
            <span className={classes(styles.count, ui.numeric)} aria-hidden="true">
              {count > MOST ? `${MOST}+` : count}
            </span>
          )}
        </button>
      )}
    >
      {(hide) => <Newest onLeave={hide} />}
    </Popover>
  )
}

function Newest({ onLeave }: { onLeave(): void }): ReactElement {
  const list = useOp('notifications.list', { limit: SHOWN })
  const all = useAct('notifications.mark_all_read', ['notifications'])
  return (
    <>
      <div className={classes(ui.flexRow, ui.between, styles.header)}>
        <b>Inbox</b>
        <span className={classes(ui.flexRow, ui.gap6)}>
          {(list.data ?? []).some(({ read }) => !read) && (
            <Button size="s" variant="quiet" onClick={() => all.mutate({})}>
              Mark all read
            </Button>
          )}
          <span onClickCapture={onLeave}>
            <LinkButton size="s" to="/inbox">
              Open
            </LinkButton>
          </span>
        </span>
      </div>
      <Loaded query={list} rows={2} empty={(news) => news.length === 0 && <Empty icon="check" title="No notifications" />}>
        {(news) => <NewsList news={news} isShort onAll={() => all.mutate({})} onLeave={onLeave} />}
      </Loaded>
    </>
  )
}
