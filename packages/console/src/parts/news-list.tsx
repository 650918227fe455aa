/** Notifications in a list, in the inbox and in the menu of the top bar. */
import { useNavigate } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import type { Notification } from '../api/contract.ts'
import { useAct } from '../api/query.ts'
import { useListKeys } from '../state/list-keys.ts'
import { useWho } from '../state/who.ts'
import { dateTime, localTime } from '../ui/format.ts'
import { Icon, type IconName } from '../ui/icons.tsx'
import { Badge, Button, type PlainPath } from '../ui/kit.ts'
import { FormProblem } from '../ui/states.tsx'
import { toast } from '../ui/toasts.tsx'
import { classes } from '../ui/classes.ts'
import styles from './news-list.module.css'
import ui from '../ui/ui.module.css'

interface Kind {
  icon: IconName
  word: string
  /** Where something can be done about it. */
  to: PlainPath
  act: string
}

const KINDS: Readonly<Record<Notification['kind'], Kind>> = {
  alert: { icon: 'bell', word: 'alert', to: '/alerts', act: 'See alerts' },
  decision: { icon: 'sat', word: 'decision', to: '/orders', act: 'Decide' },
  approval: { icon: 'card', word: 'approval', to: '/billing/approvals', act: 'Decide' },
  payment: { icon: 'card', word: 'payment', to: '/billing', act: 'See billing' },
  webhook: { icon: 'hook', word: 'webhook', to: '/develop/webhooks', act: 'See deliveries' },
  retention: { icon: 'clock', word: 'retention', to: '/billing/plan', act: 'See plans' },
  search: { icon: 'sat', word: 'search', to: '/library', act: 'See library' },
  comment: { icon: 'layers', word: 'comment', to: '/maps', act: 'See maps' },
  invitation: { icon: 'users', word: 'invitation', to: '/team/organization', act: 'See organization' },
}

interface NewsParts {
  news: readonly Notification[]
  onAll(): void
  /** In the bar at the top there is room for less. */
  isShort?: boolean
  onLeave?(): void
}

/** J and K go through it, E is done with one, Shift E with all, Enter goes where something can be done. */
export function NewsList({ news, onAll, isShort = false, onLeave }: NewsParts): ReactElement {
  const read = useAct('notifications.mark_read', ['notifications'])
  const dismiss = useAct('notifications.dismiss', ['notifications'])
  const navigate = useNavigate()
  const who = useWho()
  const go = (notification: Notification) => {
    if (!notification.read) read.mutate({ notification_id: notification.id })
    onLeave?.()
    void navigate({ to: KINDS[notification.kind].to })
  }
  const find = (id: string, then: (notification: Notification) => void) => {
    const notification = news.find((each) => each.id === id)
    if (notification) then(notification)
  }
  const keys = useListKeys({
    e: (id) => find(id, (notification) => !notification.read && read.mutate({ notification_id: notification.id })),
    E: onAll,
    Enter: (id) => find(id, go),
  })
  const mayAct = ({ kind }: Notification) => who.isAdmin || !['approval', 'payment', 'retention'].includes(kind)
  return (
    <>
      <ul className={styles.news} {...keys}>
        {news.map((notification) => (
          <li key={notification.id} data-id={notification.id} tabIndex={0} className={notification.read ? styles.seen : ''}>
            <span className={classes(styles.mark, notification.read ? '' : styles.accent)}>
              <Icon name={KINDS[notification.kind].icon} />
            </span>
            <div className={ui.grow}>
              <div className={classes(ui.flexRow, ui.gap6, ui.wrap)}>
                {!notification.read && <span className={ui.screenReaderOnly}>Unread: </span>}
                <b>{notification.title}</b>
                {!isShort && <Badge>{KINDS[notification.kind].word}</Badge>}
              </div>
              <p className={classes(ui.soft, ui.small, ui.breakAnywhere)}>{notification.body}</p>
              <div className={classes(ui.faint, ui.tiny)} title={localTime(notification.created_at)}>
                {dateTime(notification.created_at)}
              </div>
            </div>
            <div className={styles.actions}>
              {mayAct(notification) && (
                <Button size="s" onClick={() => go(notification)}>
                  {KINDS[notification.kind].act}
                </Button>
              )}
              {!notification.read && (
                <Button
                  size="s"
                  variant="quiet"
                  icon="check"
                  label="Mark read"
                  onClick={() => read.mutate({ notification_id: notification.id })}
                />
              )}
              <Button
                size="s"
                variant="quiet"
                icon="x"
                label="Dismiss"
                onClick={() => dismiss.mutate({ notification_id: notification.id }, { onSuccess: () => void toast('Dismissed') })}
              />
            </div>
          </li>
        ))}
      </ul>
      <FormProblem error={read.error ?? dismiss.error} />
    </>
  )
}
