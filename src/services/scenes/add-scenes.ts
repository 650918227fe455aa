/**
 * A background run of a saved search: finds scenes that its project never saved, and adds them in one change, with their items or jobs,
 * their lineage and one event; or only reports those that it has not reported before. A run that is killed has added everything or
 * nothing, and the next one continues.
 */
import { SERVICE, type Principal } from '#core/principal.ts'
import { Problem } from '#core/problem.ts'
import { userScopes } from '#core/scopes.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#core/time.ts'
import type { Change } from '#effects.ts'
import * as notifications from '#model/events/notification.ts'
import * as organizations from '#model/identity/organization.ts'
import * as projects from '#model/identity/project.ts'
import * as collections from '#model/imagery/collection.ts'
import * as items from '#model/imagery/item-read.ts'
import * as itemWrite from '#model/imagery/item-write.ts'
import * as savedScenes from '#model/scenes/saved-scene.ts'
import * as savedSearches from '#model/scenes/saved-search.ts'
import type { Context } from '#operation.ts'
import { RasterError } from '#raster/errors.ts'
import { requireProcess } from '#services/processing/catalogue.ts'
import { checkJob, fundJob, storeJob } from '#services/processing/jobs.ts'
import { findScenes, searchedSources, type SourceScenes } from './find-scenes.ts'
import { openScene, referenceTo, type OpenScene } from './open-scene.ts'
import { reportScenes } from './report-scenes.ts'
import type { Outcome, RunContext } from './search-run.ts'
import { tellAbout } from './tell-about.ts'

/** Between two runs, plus up to the spread, so that installations do not ask in step. */
const INTERVAL_MS = HOUR_MS
const SPREAD_MS = 10 * MINUTE_MS
/** If there is more to do, or a source failed. */
const SOON_MS = MINUTE_MS
const RETRY_MS = 15 * MINUTE_MS
/** Hosts publish scenes late: each run looks back this far. */
const LOOK_BACK_MS = 30 * DAY_MS
/** Acquisition time that one run moves ahead, so that a long past is read in parts. */
const STRIDE_MS = 31 * DAY_MS
const MAX_PAGES = 10
/** Scenes that one run adds. Each copy is a job whose files were opened before. */
const MAX_ADDED = { reference: 50, copy: 5, notify: 100 } as const
/** Scenes of which one run opens the files, to copy the first that can be read. */
const MAX_OPENED = 20

type Db = Context['db']

export async function addScenes(context: RunContext, search: savedSearches.SavedSearch): Promise<void> {
  const { db, clock } = context
  const { autoAdd } = search
  if (!autoAdd || !search.isActive) return
  const principal = await actorOf(db, search)
  const reason = await refusalOf(db, principal, search)
  if (reason !== null) return await pause(context, search, reason)
  const now = clock.now()
  const windows = windowsOf(context, search, autoAdd, now)
  const results = await findScenes(context, search, windows)
  const outcome =
    autoAdd.mode === 'notify'
      ? await reportScenes(context, { ...search, autoAdd }, results, MAX_ADDED.notify)
      : await add(context, search, { autoAdd, principal, candidates: await newScenes(context, search, results) }).catch(problemOf)
  const isComplete = !('error' in outcome) && outcome.left === 0
  const sources = { ...search.sources }
  for (const [index, result] of results.entries()) {
    const { from: _from, to, until } = windows[index]!
    const error = result.error ?? (result.hasMore ? `More than ${MAX_PAGES * 100} scenes in two months; choose a smaller area` : null)
    sources[result.source.id] = { searched_until: (isComplete && error === null ? to : until).toISOString(), error }
  }
  const errors = results.map(({ source }) => sources[source.id]!.error).filter((error) => error !== null)
  const error =
    'error' in outcome
      ? outcome.error
      : windows.length === 0
        ? 'No available open source matches this search'
        : (errors[0] ?? outcome.unreadable)
  const isBehind = windows.some(({ to }) => to < now)
  const delayMs =
    'error' in outcome || errors.length > 0
      ? RETRY_MS
      : outcome.isLimited
        ? DAY_MS - (now.getTime() % DAY_MS)
        : outcome.left > 0 || isBehind
          ? SOON_MS
          : INTERVAL_MS
  const nextRunAt = new Date(now.getTime() + delayMs + (delayMs === SOON_MS ? 0 : Math.random() * SPREAD_MS))
  await savedSearches.finishRun(db, search, { sources, error, nextRunAt }, now)
}

/** What a user can do something about, such as a full storage quota, is shown with the search. */
function problemOf(error: unknown): { error: string } {
  if (error instanceof Problem) return { error: error.message }
  throw error
}

/** The user whose access counts; a search without one belongs to the organization. */
async function actorOf(db: Db, { organizationId, userId }: savedSearches.SavedSearch): Promise<Principal> {
  if (userId === null) return { ...SERVICE, organizationId }
  const member = await organizations.findMember(db, organizationId, userId)
  return {
    kind: 'user',
    id: userId,
    userId,
    organizationId: member ? organizationId : null,
    organizationRole: member?.role ?? null,
    apiKeyId: null,
    jobId: null,
    scopes: userScopes({ isSystemAdmin: false, isClipUser: false }),
  }
}

/** Why the search can no longer run at all; null if it can. An archived project can be restored, so it is no reason. */
async function refusalOf(db: Db, principal: Principal, { projectId, autoAdd }: savedSearches.SavedSearch): Promise<string | null> {
  try {
    await projects.requireRole(db, principal, projectId, 'editor')
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return 'The user of this search is no longer an editor of the project. Save the search again to run it with your own access.'
  }
  try {
    if (autoAdd?.collection_id) await collections.requireIn(db, projectId, autoAdd.collection_id)
    return null
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return 'The collection for new scenes was deleted. Choose another one.'
  }
}

async function pause({ change, clock }: RunContext, search: savedSearches.SavedSearch, reason: string): Promise<void> {
  await change(search.organizationId, async ({ tx, lineage }) => {
    lineage.nothingProduced()
    if (!(await savedSearches.pause(tx, search, reason, clock.now()))) return
    const news = { kind: 'search' as const, title: `Saved search paused: ${search.name}`, body: reason, dedupeKey: null }
    await notifications.notify(tx, search.organizationId, 'admins', [news], clock.now())
  })
}

function windowsOf({ vendors }: RunContext, search: savedSearches.SavedSearch, autoAdd: savedSearches.AutoAdd, now: Date) {
  const limits = [search.maxCloudCover, autoAdd.max_cloud_cover].filter((limit) => limit !== null)
  return searchedSources(vendors, search).map((searched) => {
    const until = new Date(search.sources[searched.source.id]?.searched_until ?? search.dateFrom)
    return {
      ...searched,
      until,
      from: new Date(Math.max(search.dateFrom.getTime(), until.getTime() - LOOK_BACK_MS)),
      to: new Date(Math.min(now.getTime(), until.getTime() + STRIDE_MS)),
      maxCloudCover: limits.length > 0 ? Math.min(...limits) : null,
      pages: MAX_PAGES,
    }
  })
}

interface Candidate extends Omit<savedScenes.SceneKey, 'variant'> {
  readonly open: OpenScene
}

/** Oldest first. Scenes that cannot be saved, such as those without readable files, are left out. */
async function newScenes({ db, raster }: RunContext, { projectId }: savedSearches.SavedSearch, results: readonly SourceScenes[]) {
  const candidates = results.flatMap(({ source, scenes }) =>
    scenes.flatMap((scene): Candidate[] => {
      try {
        const open = openScene({ source, scene, raster })
        return [{ hostName: source.hostName, collection: scene.collection, sceneId: scene.id, open }]
      } catch (error) {
        if (error instanceof Problem) return []
        throw error
      }
    }),
  )
  const distinct = [...new Map(candidates.map((each) => [JSON.stringify([each.hostName, each.collection, each.sceneId]), each])).values()]
  const unsaved = await savedScenes.neverSaved(db, projectId, distinct)
  return unsaved.toSorted((a, b) => String(a.open.scene.datetime).localeCompare(String(b.open.scene.datetime)))
}

interface Addition {
  readonly autoAdd: savedSearches.AutoAdd
  readonly principal: Principal
  readonly candidates: readonly Candidate[]
}

async function add(context: RunContext, search: savedSearches.SavedSearch, addition: Addition): Promise<Outcome> {
  const { db, clock, change } = context
  const { autoAdd, candidates } = addition
  const allowance = await allowanceOf(db, search, autoAdd, clock.now())
  const limit = Math.min(allowance, MAX_ADDED[autoAdd.mode])
  const { chosen, store, skipped, unreadable } =
    autoAdd.mode === 'copy' ? await prepareCopies(context, search, addition, limit) : prepareReferences(context, addition, limit)
  const outcome = { left: candidates.length - chosen.length - skipped, isLimited: candidates.length - skipped > allowance, unreadable }
  if (chosen.length === 0) return outcome
  await change(search.organizationId, async (change) => {
    const { tx, lineage } = change
    await projects.lock(tx, search.projectId)
    // Another run, or a user, may have been faster.
    const left = await allowanceOf(tx, search, autoAdd, clock.now())
    const scenes = (await savedScenes.neverSaved(tx, search.projectId, chosen)).slice(0, left)
    if (scenes.length === 0) return lineage.nothingProduced()
    if (autoAdd.collection_id) await collections.lock(tx, search.projectId, autoAdd.collection_id)
    const saved = await store(change, search, scenes)
    await report(change, search, { autoAdd, scenes, saved })
  })
  return outcome
}

async function allowanceOf(db: Db, { id }: savedSearches.SavedSearch, autoAdd: savedSearches.AutoAdd, now: Date): Promise<number> {
  const startOfDay = new Date(now.getTime() - (now.getTime() % DAY_MS))
  return Math.max(0, autoAdd.max_scenes_per_day - (await savedScenes.countSince(db, id, startOfDay)))
}

/** Stores scenes in the transaction of a change; returns the IDs of their items or jobs. */
type Store = (
  change: Change,
  search: savedSearches.SavedSearch,
  scenes: readonly Candidate[],
) => Promise<{ itemIds: string[]; jobIds: string[] }>

interface Prepared {
  readonly chosen: readonly Candidate[]
  readonly store: Store
  /** Number of scenes that cannot be read. */
  readonly skipped: number
  readonly unreadable: string | null
}

function prepareReferences({ vendors, raster }: RunContext, { autoAdd, candidates }: Addition, limit: number): Prepared {
  const store: Store = async ({ tx, clock, lineage, events }, { id: savedSearchId, organizationId, projectId, userId }, scenes) => {
    const now = clock.now()
    const drafts = scenes.map(({ open }) => referenceTo(open, { collectionId: autoAdd.collection_id, vendors, raster }))
    const created = await itemWrite.insert(tx, { organizationId, projectId, createdBy: userId, now }, drafts)
    for (const [index, item] of created.entries()) {
      const key = { ...scenes[index]!, variant: savedScenes.REFERENCE }
      await savedScenes.put(tx, { organizationId, projectId, savedSearchId, now }, key, { itemId: item.id })
      lineage.record('item', item.id, 'created_in', { kind: 'project', id: projectId })
      events.emit('item.created', item.id, items.summary(item))
    }
    return { itemIds: created.map(({ id }) => id), jobIds: [] }
  }
  return { chosen: candidates.slice(0, limit), store, skipped: 0, unreadable: null }
}

/** Whole files, which cost nothing: a search never spends credits. A scene that cannot be read must not hold up the others. */
async function prepareCopies(
  context: RunContext,
  search: savedSearches.SavedSearch,
  { autoAdd, principal, candidates }: Addition,
  limit: number,
): Promise<Prepared> {
  const jobContext = { ...context, principal, idempotencyKey: `${search.id} ${context.clock.now().toISOString()}`, attributeTo: () => {} }
  const prepared = new Map<Candidate, { checked: Awaited<ReturnType<typeof checkJob>>; funding: Awaited<ReturnType<typeof fundJob>> }>()
  const failures: string[] = []
  for (const scene of candidates.slice(0, MAX_OPENED)) {
    if (prepared.size >= limit) break
    try {
      const checked = await checkJob(jobContext, {
        process: requireProcess('scene_copy'),
        projectId: search.projectId,
        params: { host_name: scene.hostName, scene_id: scene.sceneId },
        field: 'scene',
        targetCollectionId: autoAdd.collection_id,
        origin: 'project',
      })
      prepared.set(scene, { checked, funding: await fundJob(jobContext, checked, 'catalog.scene.copy') })
    } catch (error) {
      if (!(error instanceof RasterError)) throw error
      failures.push(`${scene.sceneId} cannot be read: ${error.message}`)
    }
  }
  const store: Store = async (change, { id: savedSearchId, organizationId, projectId }, scenes) => {
    const jobIds: string[] = []
    for (const scene of scenes) {
      const { checked, funding } = prepared.get(scene)!
      const job = await storeJob({ ...jobContext, ...change }, checked, funding, { dispatch: true })
      const variant = savedScenes.copyVariant({ assets: scene.open.files, area: null })
      await savedScenes.put(
        change.tx,
        { organizationId, projectId, savedSearchId, now: change.clock.now() },
        { ...scene, variant },
        { jobId: job.id },
      )
      jobIds.push(job.id)
    }
    return { itemIds: [], jobIds }
  }
  return { chosen: [...prepared.keys()], store, skipped: failures.length, unreadable: failures[0] ?? null }
}

async function report(
  change: Change,
  search: savedSearches.SavedSearch,
  { autoAdd, scenes, saved }: { autoAdd: savedSearches.AutoAdd; scenes: readonly Candidate[]; saved: Awaited<ReturnType<Store>> },
): Promise<void> {
  const { id, projectId, name } = search
  const { tx, clock, events } = change
  events.emit('saved_search.matched', id, {
    id,
    project_id: projectId,
    name,
    mode: autoAdd.mode,
    count: scenes.length,
    scenes: scenes.map(({ hostName, sceneId }) => ({ host_name: hostName, id: sceneId })),
    item_ids: saved.itemIds,
    job_ids: saved.jobIds,
    matched_at: clock.now().toISOString(),
  })
  const project = await projects.get(tx, projectId)
  const what = scenes.length === 1 ? '1 scene' : `${scenes.length} scenes`
  const body = autoAdd.mode === 'copy' ? `Copying ${what} to ${project.name}.` : `Added ${what} to ${project.name}.`
  await tellAbout(change, search, { body, email: autoAdd.email ?? false })
}
