/** Tells the user of a saved search about new scenes: in the inbox, and at once by email if the search says so. */
import type { Change } from '#effects.ts'
import * as notifications from '#model/events/notification.ts'
import { mailNotificationTask } from '#model/events/tasks.ts'
import type { SavedSearch } from '#model/scenes/saved-search.ts'

export async function tellAbout(
  { tx, clock, tasks }: Change,
  { id, name, organizationId, userId }: SavedSearch,
  { body, email }: { body: string; email: boolean },
): Promise<void> {
  const key = `search:${id}:${clock.now().toISOString()}`
  const news = { kind: 'search' as const, title: `New scenes: ${name}`, body, dedupeKey: key }
  await notifications.notify(tx, organizationId, userId === null ? 'admins' : { userId }, [news], clock.now())
  if (email && userId !== null) await tasks.enqueue(mailNotificationTask, { user_id: userId, dedupe_key: key })
}
