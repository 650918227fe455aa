/**
 * Live events: one reader of the outbox for all listeners of a process. It looks when a commit rings, here or elsewhere, and
 * hands each event to those who may read it. Listeners that come back start at the last event they know.
 */
import { CONNECTION_LIMITS } from '#core/connections.ts'
import type { Principal } from '#core/principal.ts'
import { invalidField, problem } from '#core/problem.ts'
import { bodyOf } from '#core/webhooks.ts'
import type { Db } from '#db/tables.ts'
import * as stream from '#model/events/stream.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import { mayRead } from '#model/identity/project.ts'
import type { CommitNotifier } from './commit-notifier.ts'
import { startLoop, type Loop } from './loop.ts'

interface Listener {
  /** As it is now: roles may change while a stream is open. */
  principal(): Principal
  /** False: it takes no more, and will come back for the rest. */
  send(frame: string): boolean
  end(): void
}

interface JoinOptions {
  readonly lastEventId: string | null
  /** The caller's own, to count it for; null where that is not known. */
  readonly address: string | null
}

export interface EventStream {
  /** Sends what came after the named event, then everything as it comes. What is returned leaves the stream. */
  join(listener: Listener, options: JoinOptions): Promise<() => void>
  close(): Promise<void>
}

/** In one process: together below the connections that it accepts, so that streams leave capacity for calls. */
export const STREAM_LIMITS = { inAll: 1_500, perOrganization: 250, perUser: 100, perAddress: (CONNECTION_LIMITS.maxPerAddress * 3) / 4 }
const PAGE = 500
/** For commits whose ring was lost, and for events that wait for an older transaction to end. */
const REST_MS = 250
const GAP_MS = 5

/** A listener that names no event hears what is committed after it came; null for one that has caught up. */
type Since = stream.Moment | null

interface Group {
  /** Everything up to here has been handed out. */
  head: stream.Position
  listeners: Map<Listener, Since>
  userCount: number
}

interface StreamOptions {
  db: Db
  commitNotifier: CommitNotifier
  onError: (error: unknown) => void
}

export function createEventStream({ db, commitNotifier, onError }: StreamOptions): EventStream {
  const groups = new Map<string, Group>()
  const places = createPlaces()
  let isClosed = false
  let loop: Loop | null = null

  const start = (): Loop => {
    if (loop) return loop
    const stepping = startLoop({ step: () => readOn(db, groups), restMs: REST_MS, gapMs: GAP_MS, onError })
    const unsubscribe = commitNotifier.subscribe(stepping.wake)
    loop = {
      wake: stepping.wake,
      async close() {
        unsubscribe()
        await stepping.close()
      },
    }
    return loop
  }
  const groupOf = (organizationId: string, { head }: stream.Moment): Group => {
    const group = groups.get(organizationId) ?? { head, listeners: new Map<Listener, Since>(), userCount: 0 }
    groups.set(organizationId, group)
    return group
  }
  /** A group lives as long as somebody listens or is about to. */
  const drop = (organizationId: string): void => {
    const group = groups.get(organizationId)!
    if (--group.userCount === 0) groups.delete(organizationId)
  }

  return {
    async join(listener, { lastEventId, address }) {
      const { organizationId, giveBack } = places.take(listener.principal(), address)
      try {
        const from = lastEventId === null ? null : await stream.positionOf(db, organizationId, lastEventId)
        if (lastEventId !== null && !from) throw invalidField('Last-Event-ID', 'names no event of this organization')
        const moment = await stream.now(db)
        const group = groupOf(organizationId, moment)
        group.userCount++
        try {
          if (from) await catchUp(db, group, { organizationId, listener, from })
          if (isClosed) throw problem('unavailable', 'The service is stopping')
        } catch (error) {
          drop(organizationId)
          throw error
        }
        group.listeners.set(listener, from ? null : moment)
        start().wake()
        return () => {
          if (!group.listeners.delete(listener)) return
          drop(organizationId)
          giveBack()
        }
      } catch (error) {
        giveBack()
        throw error
      }
    },
    async close() {
      isClosed = true
      for (const { listeners } of groups.values()) for (const listener of listeners.keys()) listener.end()
      await loop?.close()
    },
  }
}

/** Counts streams. A place is taken before the first wait, so that many callers at once cannot pass a limit together. */
function createPlaces() {
  const taken = new Map<string, number>()
  const countOf = (name: string) => taken.get(name) ?? 0
  const retry = { headers: { 'Retry-After': '5' } }
  return {
    take(principal: Principal, address: string | null): { organizationId: string; giveBack(): void } {
      const organizationId = requireOrganization(principal)
      const { inAll, perOrganization, perUser, perAddress } = STREAM_LIMITS
      const user = `user ${principal.userId ?? principal.id}`
      if (countOf('all') >= inAll) throw problem('unavailable', 'Too many event streams are open; try again in a moment', retry)
      const limits: [name: string, limit: number, who: string][] = [
        [`organization ${organizationId}`, perOrganization, 'An organization'],
        [`${user} of ${organizationId}`, perUser, 'A user'],
        ...(address === null ? [] : [[`address ${address}`, perAddress, 'One address'] as [string, number, string]]),
      ]
      for (const [name, limit, who] of limits)
        if (countOf(name) >= limit)
          throw problem('rate-limited', `${who} can have at most ${limit} event streams open; close one or share it`, retry)
      const names = ['all', ...limits.map(([name]) => name)]
      for (const name of names) taken.set(name, countOf(name) + 1)
      return {
        organizationId,
        giveBack() {
          for (const name of names) {
            const left = countOf(name) - 1
            if (left > 0) taken.set(name, left)
            else taken.delete(name)
          }
        },
      }
    },
  }
}

/** Hands out what is new to every group that has listeners; says whether there may be more. */
async function readOn(db: Db, groups: ReadonlyMap<string, Group>): Promise<boolean> {
  const open = [...groups].filter(([, { listeners }]) => listeners.size > 0)
  if (open.length === 0) return false
  const events = await stream.after(
    db,
    open.map(([organizationId, { head }]) => ({ organizationId, position: head })),
    PAGE,
  )
  for (const event of events) {
    const group = groups.get(event.organizationId)
    if (!group || !stream.isBefore(group.head, event.position)) continue // It left meanwhile, or began anew.
    group.head = event.position
    hand(event, group.listeners)
  }
  return events.length >= PAGE
}

interface Joining {
  organizationId: string
  listener: Listener
  from: stream.Position
}

/** Reads up to where the others are. When it is there, no event can come between this and its joining them. */
async function catchUp(db: Db, group: Group, { organizationId, listener, from }: Joining): Promise<void> {
  let position = from
  for (;;) {
    const { head } = group
    if (!stream.isBefore(position, head)) return
    const page = (await stream.after(db, [{ organizationId, position }], PAGE)).filter((event) => !stream.isBefore(head, event.position))
    for (const event of page) if (!hand(event, [[listener, null]])) return
    position = page.length < PAGE ? head : page.at(-1)!.position
  }
}

/** One text for all who get it. False: one of them takes no more. */
function hand(event: stream.StreamedEvent, listeners: Iterable<[Listener, Since]>): boolean {
  let frame: string | null = null
  let isTaken = true
  for (const [listener, since] of listeners) {
    if (since && stream.wasCommitted(event.position, since)) continue
    if (!isReader(listener.principal(), event)) continue
    frame ??= `id: ${event.id}\nevent: ${event.type}\ndata: ${bodyOf(event)}\n\n`
    isTaken = listener.send(frame) && isTaken
  }
  return isTaken
}

function isReader(principal: Principal, { organizationId, readers }: stream.StreamedEvent): boolean {
  if (readers === null) return true
  const memberRole = principal.userId !== null && readers.includes(principal.userId) ? 'viewer' : null
  return mayRead(principal, { organizationId, visibility: 'private', memberRole })
}
