/** Reports new scenes of a saved search without adding them: one event and one notification for all scenes of a run, once per scene. */
import { DAY_MS } from '#core/time.ts'
import * as reportedScenes from '#model/scenes/reported-scene.ts'
import type { AutoAdd, SavedSearch } from '#model/scenes/saved-search.ts'
import type { SourceScenes } from './find-scenes.ts'
import type { Outcome, RunContext } from './search-run.ts'
import { tellAbout } from './tell-about.ts'

/** Named in the notification; the event has them all. */
const MAX_NAMED = 3

export async function reportScenes(
  { db, clock, change }: RunContext,
  search: SavedSearch & { autoAdd: AutoAdd },
  results: readonly SourceScenes[],
  limit: number,
): Promise<Outcome> {
  const { organizationId, autoAdd } = search
  const startOfDay = new Date(clock.now().getTime() - (clock.now().getTime() % DAY_MS))
  const found = results
    .flatMap(({ source, scenes }) =>
      scenes.map(({ id, collection, datetime }) => ({
        hostName: source.hostName,
        title: source.title,
        collection,
        sceneId: id,
        datetime: String(datetime ?? ''),
      })),
    )
    .toSorted((a, b) => a.datetime.localeCompare(b.datetime))
  const unreported = await reportedScenes.unreported(db, search, found)
  const allowance = Math.max(0, autoAdd.max_scenes_per_day - (await reportedScenes.countSince(db, search, startOfDay)))
  const chosen = unreported.slice(0, Math.min(limit, allowance))
  const outcome = { left: unreported.length - chosen.length, isLimited: unreported.length > allowance, unreadable: null }
  if (chosen.length === 0) return outcome
  await change(organizationId, async (change) => {
    change.lineage.nothingProduced()
    // Another run may have been faster: only what this one inserts is reported.
    const scenes = await reportedScenes.insert(change.tx, search, chosen, clock.now())
    if (scenes.length === 0) return
    change.events.emit('saved_search.matched', search.id, {
      id: search.id,
      project_id: search.projectId,
      name: search.name,
      mode: autoAdd.mode,
      count: scenes.length,
      scenes: scenes.map(({ hostName, sceneId }) => ({ host_name: hostName, id: sceneId })),
      item_ids: [],
      job_ids: [],
      matched_at: clock.now().toISOString(),
    })
    await tellAbout(change, search, { body: bodyOf(scenes), email: autoAdd.email ?? false })
  })
  return outcome
}

function bodyOf(scenes: readonly { title: string; datetime: string; sceneId: string }[]): string {
  const named = scenes.slice(0, MAX_NAMED).map(({ title, datetime }) => (datetime ? `${title} of ${datetime.slice(0, 10)}` : title))
  const others = scenes.length - named.length
  const what = scenes.length === 1 ? '1 new scene' : `${scenes.length} new scenes`
  return `${what}: ${named.join(', ')}${others > 0 ? ` and ${others} more` : ''}. Open the saved search in Explore to see them.`
}
